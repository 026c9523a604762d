/** What becomes of an import: jobs of the queue `ingest`. Each may be delivered twice, late, or after its project is gone. */
import { parseOid, ZERO_OID } from '../../git/oid.ts';
import type { PushReport } from '../../git/wire/push-report.ts';
import { pushRequest } from '../../git/wire/push-request.ts';
import { pushableName } from '../../git/wire/push-update.ts';
import type { Command } from '../../git/wire/receive-request.ts';
import type { StagedRefs, StagingFailure } from '../../outbound/stage-repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { ingest } from '../git/receive-upload.ts';
import { failImport, finishImport, isImporting, startImport } from '../repository/import-state.ts';
import { openRepository } from '../repository/open.ts';
import { maxImportBytes } from '../repository/size-limits.ts';
import { SEALED_CREDENTIALS, STAGED_REFS } from './plan.ts';

/** Which import of which project. */
interface ImportId {
  readonly projectId: number;
  readonly importId: string;
}

/** @returns the project while that import is under way */
export async function importing(
  deps: Deps,
  { projectId, importId }: ImportId,
): Promise<ProjectRecord | undefined> {
  const project = await deps.store.projects.get(projectId);
  return project?.importSource?.id === importId && isImporting(project) ? project : undefined;
}

/** The worker that fetches the repository has begun. */
export async function beginImport(deps: Deps, which: ImportId): Promise<void> {
  if ((await importing(deps, which)) !== undefined) await startImport(deps, which.projectId);
}

/** The time of the import is over. */
export async function endImport(deps: Deps, which: ImportId): Promise<void> {
  if ((await importing(deps, which)) === undefined) return;
  await failImport(deps, which.projectId, FAILURES.timeout);
  await discard(deps, which.importId);
}

/**
 * The worker that fetches the repository has ended.
 * @param report.outcome `staged`, `empty`; anything else is a failure
 * @param last whether the message is not delivered again: what fails then has failed for good
 * @throws what went wrong on our side: the message is delivered again
 */
export async function importStaged(
  deps: Deps,
  report: ImportId & { readonly outcome?: string; readonly failure?: string },
  last: boolean,
): Promise<void> {
  const { importId, outcome, failure } = report;
  const project = await importing(deps, report);
  // Too late, whatever the report says.
  if (project === undefined) return discard(deps, importId);
  if (outcome === 'empty') {
    await finishImport(deps, project.id);
    return discard(deps, importId);
  }
  if (outcome !== 'staged') {
    await failImport(deps, project.id, failureText(failure));
    return discard(deps, importId);
  }
  try {
    await startImport(deps, project.id);
    const problem = await ingestStaged(deps, project, importId);
    if (problem !== undefined) await failImport(deps, project.id, problem);
  } catch (error) {
    if (!last) throw error;
    await failImport(deps, project.id, FAILURES.staging);
    await discard(deps, importId);
    throw error;
  }
  await discard(deps, importId);
}

/** Ingests the staged repository. @returns the reason of a refusal, for the user who requested the import */
async function ingestStaged(
  deps: Deps,
  project: ProjectRecord,
  importId: string,
): Promise<string | undefined> {
  const { stagingArea: staging } = deps.store;
  const [refs, pack] = await Promise.all([readRefs(deps, importId), stagedPack(deps, importId)]);
  if (refs === undefined || pack === undefined) return FAILURES.staging;
  const importMaxBytes = await maxImportBytes(deps);
  if (pack.size > importMaxBytes) return FAILURES['too-large'];
  if (pack.size !== refs.packBytes) throw new Error('refs and pack were staged by different runs');
  // No authorization: a new project has no rules, and its creator may fill it.
  const report = await ingest(
    deps,
    {
      request: pushRequest({ commands: refs.commands, atomic: true }),
      pack: staging.read({ id: importId, size: pack.size }),
    },
    {
      repository: openRepository(deps, project, { importer: true, finishing: true }),
      packLimits: { maxBytes: importMaxBytes },
      ...(refs.head === undefined ? {} : { defaultBranch: refs.head }),
    },
  );
  const problem = problemOf(report);
  if (problem !== undefined && (await stagedPack(deps, importId))?.etag !== pack.etag) {
    throw new Error('the pack was staged again meanwhile');
  }
  return problem;
}

function problemOf({ unpack, refs, messages }: PushReport): string | undefined {
  if (unpack !== 'ok') return `The repository was refused: ${unpack}`;
  const refused = refs.find(({ reason }) => reason !== undefined && reason !== 'atomic push failure');
  if (refused === undefined) return undefined;
  const detail = messages[0] === undefined ? '' : ` (${messages[0]})`;
  return `The repository was refused: ${refused.name}: ${refused.reason}${detail}`;
}

async function stagedPack({ store }: Deps, importId: string) {
  const [pack] = await store.stagingArea.parts({ id: importId, size: 0, partSize: 0 });
  return pack;
}

/** Bytes: 20,000 refs with names of maximum length. */
const MAX_REFS_BYTES = 24 * 1024 * 1024;
const MAX_REFS = 20_000;

interface ReadRefs {
  readonly commands: readonly Command[];
  readonly packBytes: number | undefined;
  /** Short name of the branch that HEAD will point to. */
  readonly head: string | undefined;
}

/** Reads the staged refs. Untrusted: they were written by the function that talks to foreign servers. */
async function readRefs(deps: Deps, importId: string): Promise<ReadRefs | undefined> {
  const { stagingArea: staging } = deps.store;
  const size = await staging.noteSize(importId, STAGED_REFS);
  if (size === undefined || size > MAX_REFS_BYTES) return undefined;
  const bytes = await staging.noted(importId, STAGED_REFS);
  let parsed: Partial<StagedRefs> | null;
  try {
    parsed = JSON.parse(Buffer.from(bytes ?? []).toString()) as typeof parsed;
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed?.refs) || parsed.refs.length > MAX_REFS) return undefined;
  const commands: Command[] = [];
  for (const entry of parsed.refs as readonly unknown[]) {
    const [nameText, oidText] = (Array.isArray(entry) ? entry : []) as unknown[];
    if (typeof nameText !== 'string' || typeof oidText !== 'string') return undefined;
    const name = /^refs\/(heads|tags)\//.test(nameText) ? pushableName(nameText) : undefined;
    const oid = parseOid(oidText);
    if (name === undefined || oid === undefined) return undefined;
    commands.push({ name, from: ZERO_OID, to: oid });
  }
  const head = commands.find(({ name }) => name === parsed.head)?.name;
  return {
    commands,
    packBytes: parsed.packBytes,
    head: head?.startsWith('refs/heads/') ? head.slice('refs/heads/'.length) : undefined,
  };
}

async function discard(deps: Deps, importId: string): Promise<void> {
  const { stagingArea: staging } = deps.store;
  await staging.discard({ id: importId, size: 0, partSize: 0 });
  await staging.forget(importId, [STAGED_REFS, SEALED_CREDENTIALS]);
}

const failureText = (failure: string | undefined): string =>
  FAILURES[failure as StagingFailure] ?? FAILURES.staging;

/**
 * Error texts about a foreign server. Unknown hosts and hosts on private networks share one text, so that imports
 * cannot be used to scan the service's network.
 */
const FAILURES: Readonly<Record<StagingFailure, string>> = {
  'bad-url': 'The URL is blocked: it is not one that may be imported from',
  blocked: 'The host of the URL cannot be resolved, or is not on the public internet',
  unreachable: 'The server cannot be reached, or broke off',
  tls: 'The server has no valid certificate',
  timeout: 'The server took too long',
  redirects: 'The server redirects too often, or to nowhere',
  'too-large': 'The repository is too large',
  unauthorized: 'The server refuses these credentials, or asks for some',
  'not-found': 'There is no repository at this URL',
  refused: 'The server refused',
  'not-a-repository': 'There is something else than a Git repository at this URL',
  protocol: 'The server does not speak as Git does, or broke off',
  'object-format': 'Repositories with SHA-256 object names are not supported',
  'too-many-refs': 'The repository has too many branches and tags',
  staging: 'The import failed on our side; try again',
};
