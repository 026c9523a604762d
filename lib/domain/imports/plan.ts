/** Creation of a project that imports a repository by URL: the request and its outbox messages. */
import { ulid } from 'ulid';
import { parseAllowList } from '../../outbound/allow-list.ts';
import { MAX_URL_LENGTH, urlProblem } from '../../outbound/destination.ts';
import { seal } from '../../outbound/seal.ts';
import { IMPORT_ORDER_JOB } from '../../outbound/stage-repository.ts';
import type { ImportSource } from '../../records/imports.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { INGEST, message, messageAt, type OutboxMessage, outboxWrite } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { forbidden, invalid } from '../errors.ts';
import type { InstanceSettings } from '../settings/current.ts';

/** A repository to import, parsed from its URL. */
export interface ImportOrder {
  readonly source: ImportSource;
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** The ingest queue's job that ends an import nothing else ended. */
export const IMPORT_ENDS_JOB = 'import.ends';

/** An import that has not ended by then has failed: its workers have had all their attempts. */
const IMPORT_ENDS_MS = 3 * 3600 * 1000;

/** @throws 400 for an invalid or blocked URL; 403 where imports by URL are disabled */
export async function readImportUrl(deps: Deps, text: string): Promise<ImportOrder> {
  const trimmed = text.trim();
  const url = trimmed.length > MAX_URL_LENGTH ? null : URL.parse(trimmed);
  // A query would be dropped, and may contain a secret.
  if (url === null || url.search !== '' || url.hash !== '') throw blocked('URI is invalid');
  const settings = await deps.settings.current();
  if (!settings.import_sources.includes('git')) throw forbidden();
  const problem = urlProblem(url, { allow: parseAllowList(outboundAllow(deps, settings)) });
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

/**
 * Hosts and networks that may be called although they are not public: from the configuration and the settings.
 * @param local whether all private networks may be called
 */
export const outboundAllow = (
  { environment }: Deps,
  settings: InstanceSettings,
  local = settings.allow_local_requests_from_web_hooks_and_services,
): string =>
  [environment.outboundAllow, ...settings.outbound_local_requests_whitelist, ...(local ? LOCAL : [])].join(
    ',',
  );
/** Localhost and private networks. Metadata addresses of clouds within them stay blocked. */
const LOCAL = [
  'localhost',
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
];

const blocked = (problem: string) => invalid({ import_url: [`is blocked: ${problem}`] });

/** Outbox messages for the transaction that creates the project: the import, and its timeout. */
export type ImportMessages = (project: ProjectRecord) => {
  readonly alongside: readonly Write[];
  readonly messages: readonly OutboxMessage[];
};

/** @throws StoreUnavailable */
export async function planImport(deps: Deps, order: ImportOrder): Promise<ImportMessages> {
  const key = await sealed(deps, order);
  return (project) => {
    const ids = { projectId: project.id, importId: order.source.id };
    const ends = new Date(deps.now().getTime() + IMPORT_ENDS_MS);
    return {
      alongside: [outboxWrite(messageAt(INGEST, IMPORT_ENDS_JOB, ids, ends))],
      messages: [message(INGEST, IMPORT_ORDER_JOB, { ...ids, ...(key === undefined ? {} : { key }) })],
    };
  };
}

/**
 * Credentials are never stored in plain text: they are sealed in the bucket, and the key is in the message. The sealed
 * object is deleted when the import ends.
 * @returns the key
 */
async function sealed(deps: Deps, { source, credentials }: ImportOrder): Promise<string | undefined> {
  if (credentials === undefined) return undefined;
  const { key, bytes } = seal(JSON.stringify(credentials));
  await deps.store.stagingArea.note(source.id, SEALED_CREDENTIALS, bytes);
  return key;
}

/** Name of the {@link StagedRefs} object beside the pack. */
export const STAGED_REFS = 'refs.json';
export const SEALED_CREDENTIALS = 'credentials';
