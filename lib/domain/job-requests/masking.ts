/** What traces must not show: the masked variables of the job, and its token. Runners hide them too, if they are as they should. */
import { asBuffer } from '../../bytes/as-buffer.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import { variablesOf } from '../ci-variables/variables-of.ts';
import type { Deps } from '../deps.ts';

/** Bytes of the begin of a secret at the end of a piece that are hidden before it is known whether the rest follows. */
const HIDDEN_BEGIN = 4;
/** Begins of secrets at the end of a piece that are remembered: the longest. */
const MAX_BEGUN = 50;
/** Jobs whose secrets a process remembers. */
const MAX_KNOWN = 500;

/** By the hash of the job's token. What a job was given does not change with its variables. */
const known = new Map<string, Promise<readonly Buffer[]>>();

/** The secrets of a running job. */
export async function secretsOf(deps: Deps, job: JobRecord, token: string): Promise<readonly Buffer[]> {
  const key = job.tokenHash ?? '';
  let secrets = known.get(key);
  if (secrets === undefined) {
    secrets = read(deps, job, token);
    known.set(key, secrets);
    for (const oldest of known.keys()) if (known.size > MAX_KNOWN) known.delete(oldest);
    secrets.catch(() => known.delete(key));
  }
  return secrets;
}

async function read(deps: Deps, job: JobRecord, token: string): Promise<readonly Buffer[]> {
  const project = await deps.store.projects.get(job.projectId);
  const reader = { protected: job.protected, environment: job.environment?.name };
  const variables = project === undefined ? [] : await variablesOf(deps, project, reader);
  const values = variables.filter(({ masked, value }) => masked && value !== '').map(({ value }) => value);
  return [...new Set([token, ...values])].map((value) => Buffer.from(value));
}

export interface Hidden {
  readonly bytes: Uint8Array;
  /** How many bytes of secrets have begun at the end of the piece. */
  readonly begun: readonly number[];
}

/**
 * Writes `x` over every secret in a piece of a trace, also over the rest of one that has begun in the pieces before. Of one that
 * is divided, the first three bytes may be seen.
 * @param begun of the piece before
 */
export function hide(piece: Uint8Array, secrets: readonly Buffer[], begun: readonly number[] = []): Hidden {
  const text = asBuffer(piece);
  const hidden: (readonly [from: number, to: number])[] = [];
  const next = new Set<number>();
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
      hidden.push([at, at + secret.length]);
    for (const count of begun) {
      if (count >= secret.length) continue;
      const rest = secret.subarray(count);
      const length = Math.min(rest.length, text.length);
      if (!rest.subarray(0, length).equals(text.subarray(0, length))) continue;
      const goesOn = length < rest.length;
      if (goesOn) next.add(count + length);
      if (!goesOn || count + length >= HIDDEN_BEGIN) hidden.push([0, length]);
    }
    for (let count = Math.min(secret.length - 1, text.length); count > 0; count--) {
      if (!text.subarray(text.length - count).equals(secret.subarray(0, count))) continue;
      next.add(count);
      if (count >= HIDDEN_BEGIN) hidden.push([text.length - count, text.length]);
    }
  }
  const result = hidden.length === 0 ? text : Buffer.from(text);
  for (const [from, to] of hidden) result.fill('x', from, to);
  return { bytes: result, begun: [...next].toSorted((a, b) => b - a).slice(0, MAX_BEGUN) };
}
