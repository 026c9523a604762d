import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { type AuditedEntity, audited } from './event.ts';

interface Attempt {
  /** What it is recorded in; asked for when it is needed, and undefined when there is no such thing. */
  readonly entity: () => AuditedEntity | undefined | Promise<AuditedEntity | undefined>;
  /** `create personal access token` */
  readonly what: string;
}

/** Of one author: nobody is to fill the record with what they may not do. */
const LIMIT = { kind: 'audited-refusal', limit: 20, seconds: 60 };

/**
 * Attempts to make or revoke tokens that are refused are recorded too: the only refusals that are, up to twenty a minute
 * of one author. There is no transaction for them to be in.
 * @throws what `work` throws
 */
export async function recordingRefusals<T>(
  deps: Deps,
  actor: Actor,
  { entity, what }: Attempt,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError && actor.kind === 'user') {
      const subject = String(actor.user.id);
      const [of, told] = await Promise.all([
        entity(),
        deps.store.rateLimits.take(LIMIT, subject, deps.now()),
      ]);
      const custom_message = `Attempted to ${what} but failed with message: ${textOf(error)}`;
      if (of !== undefined && told)
        await deps.store.table.put(await audited(deps, actor, { entity: of, details: { custom_message } }));
    }
    throw error;
  }
}

function textOf({ detail }: DomainError): string {
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) return detail.join(', ');
  return Object.entries(detail as Record<string, unknown>)
    .map(([field, told]) => `${field} ${[told].flat().join(', ')}`)
    .join('; ');
}
