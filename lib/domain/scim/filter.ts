import { isWork } from './attributes.ts';
import { badRequest } from './errors.ts';
import { NotReadable, parseComparison } from './path.ts';

/** What people are looked for by. */
export interface ScimFilter {
  readonly by: 'externUid' | 'userName' | 'email';
  readonly value: string;
}

/**
 * A filter of a list (RFC 7644, 3.4.2.2): one comparison by equality with a text.
 * @throws 400 `invalidFilter`
 */
export function parseFilter(text: string): ScimFilter {
  let comparison: ReturnType<typeof parseComparison>;
  try {
    comparison = parseComparison(text);
  } catch (error) {
    if (error instanceof NotReadable) throw badRequest('invalidFilter', `filter: ${error.message}`);
    throw error;
  }
  const { path, value } = comparison;
  const by = isWork(path) ? wanted(path.attribute, path.sub) : undefined;
  if (by === undefined)
    throw badRequest('invalidFilter', 'filter: only id, externalId, userName and emails.value are compared');
  if (by !== 'email' && path.where !== undefined)
    throw badRequest('invalidFilter', 'filter: only emails are several');
  if (typeof value !== 'string') throw badRequest('invalidFilter', 'filter: a text is expected');
  return { by, value };
}

function wanted(attribute: string, sub: string | undefined): ScimFilter['by'] | undefined {
  if (attribute === 'emails') return sub === undefined || sub === 'value' ? 'email' : undefined;
  if (sub !== undefined) return undefined;
  if (attribute === 'id' || attribute === 'externalid') return 'externUid';
  return attribute === 'username' ? 'userName' : undefined;
}
