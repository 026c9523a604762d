import { DomainError } from '../errors.ts';

/** The detail errors of RFC 7644, 3.12. */
type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

/** 400 */
export const badRequest = (scimType: ScimType, detail: string) =>
  new DomainError('bad-request', detail, { scimType });

/** 409 */
export const notUnique = (detail: string) => new DomainError('conflict', detail, { scimType: 'uniqueness' });

/** 404 */
export const noResource = (id: string) =>
  new DomainError('not-found', `Resource ${id.slice(0, 255)} not found`);

/** 429 */
export const tooOften = (detail: string) => new DomainError('too-many-requests', detail);
