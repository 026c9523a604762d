import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { type AuditedEntity, audited } from './event.ts';

interface Attempt {
  /** Looked up only if needed; undefined if it does not exist. */
  readonly entity: () => AuditedEntity | undefined | Promise<AuditedEntity | undefined>;
  /** `create personal access token` */
  readonly what: string;
}

/** Per author: keeps one user from flooding the audit log. */
const LIMIT = { kind: 'audited-refusal', limit: 20, seconds: 60 };

/**
 * Runs `work` and records an audit event if it is refused: used for the creation and revocation of tokens, at most 20
 * events per minute and author. The event is a write of its own, as there is no transaction.
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
      const [audit, allowed] = await Promise.all([
        entity(),
        deps.store.rateLimits.take(LIMIT, subject, deps.now()),
      ]);
      const custom_message = `Attempted to ${what} but failed with message: ${textOf(error)}`;
      if (audit !== undefined && allowed)
        await deps.store.table.put(
          await audited(deps, actor, { entity: audit, details: { custom_message } }),
        );
    }
    throw error;
  }
}

function textOf({ detail }: DomainError): string {
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) return detail.join(', ');
  return Object.entries(detail as Record<string, unknown>)
    .map(([field, problems]) => `${field} ${[problems].flat().join(', ')}`)
    .join('; ');
}
