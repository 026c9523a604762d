/** Projects that begin with somebody else's repository: what the request that makes one says, and promises. */
import { ulid } from 'ulid';
import { parseAllowList } from '../outbound/allow-list.ts';
import { MAX_URL_LENGTH, urlProblem } from '../outbound/destination.ts';
import type { StagingOrder } from '../outbound/stage-repository.ts';
import {
  IMPORTS,
  message,
  messageAt,
  messageText,
  OUTBOUND,
  type OutboxMessage,
  outboxWrite,
} from '../store/outbox.ts';
import type { ImportSource, ProjectRecord } from '../store/records.ts';
import type { Write } from '../store/write.ts';
import type { Deps } from './deps.ts';
import { invalid } from './errors.ts';

/** A repository to import, as its URL says. */
export interface ImportOrder {
  readonly source: ImportSource;
  /** Kept nowhere but in the message to whoever calls the server. */
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** An import that has not ended by then has failed: its workers have had all their attempts. */
const IMPORT_ENDS_MS = 3 * 3600 * 1000;
/** Seconds; the role that signs may make it less. */
const STAGING_TIME = 3 * 3600;

/** @throws 400 for what is no URL, or is one that is never called */
export function readImportUrl(deps: Deps, text: string): ImportOrder {
  const trimmed = text.trim();
  const url = trimmed.length > MAX_URL_LENGTH ? null : URL.parse(trimmed);
  // A query would be lost, and may be a secret.
  if (url === null || url.search !== '' || url.hash !== '') throw blocked('URI is invalid');
  const problem = urlProblem(url, { allow: parseAllowList(deps.environment.outboundAllow) });
  if (problem !== undefined) throw blocked(problem);
  let credentials: { username: string; password: string } | undefined;
  try {
    const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    if (username !== '' || password !== '') credentials = { username, password };
  } catch {
    throw blocked('URI is invalid');
  }
  url.username = '';
  url.password = '';
  const source = { id: ulid(deps.now().getTime()), type: 'git', url: url.href } as const;
  return { source, ...(credentials === undefined ? {} : { credentials }) };
}

const blocked = (problem: string) => invalid({ import_url: [`is blocked: ${problem}`] });

export interface ImportPlan {
  /** For the transaction that makes the project: also the import's end, in case nobody else brings it about. */
  promises(project: ProjectRecord): { alongside: readonly Write[]; messages: readonly OutboxMessage[] };
  /**
   * When the project is made. Credentials go from here straight to the queue: they are never in the table, not for a
   * moment. A project whose import cannot begin is not kept.
   * @throws StoreUnavailable
   */
  begin(project: ProjectRecord): Promise<void>;
}

export async function planImport(deps: Deps, order: ImportOrder): Promise<ImportPlan> {
  const { source, credentials } = order;
  const [packUrl, refsUrl] = await Promise.all([
    deps.store.staging.presignUnsized(source.id, STAGING_TIME),
    deps.store.staging.presignNote(source.id, STAGED_REFS, STAGING_TIME),
  ]);
  const { importMaxBytes: maxPackBytes } = deps.environment;
  const repository: StagingOrder = { url: source.url, ...credentials, packUrl, refsUrl, maxPackBytes };
  const about = ({ id }: ProjectRecord) => ({ projectId: id, importId: source.id });
  const stage = (project: ProjectRecord) =>
    message(OUTBOUND, 'repository.stage', { ...about(project), ...repository });
  return {
    promises(project) {
      const ends = new Date(deps.now().getTime() + IMPORT_ENDS_MS);
      return {
        alongside: [outboxWrite(messageAt(IMPORTS, 'import.ends', about(project), ends))],
        messages: credentials === undefined ? [stage(project)] : [],
      };
    },
    async begin(project) {
      if (credentials === undefined) return;
      const order = stage(project);
      try {
        await deps.store.queues.send(order.queue, [{ id: order.id, body: messageText(order) }]);
      } catch (error) {
        await deps.store.projects.remove(project, { now: deps.now() }).catch(() => {});
        throw error;
      }
    },
  };
}

/** The name of {@link StagedRefs} beside the pack. */
export const STAGED_REFS = 'refs.json';
