import type { PushReport } from '../../git/wire/push-report.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { RepositoryOwner } from '../../records/repository-owner.ts';
import { Missing, Stale } from '../../store/errors.ts';
import type { IngestProgress, PushUpload } from '../../store/git/push-uploads.ts';
import { log } from '../../telemetry/log.ts';
import { openGit } from '../access/git-access.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { pushAccess } from '../refs/collaboration.ts';
import { openRepository } from '../repository/open.ts';
import { type Propose, pushRules } from './push-answer.ts';
import { ingest, type PushRules, readPushRequest } from './receive-upload.ts';

/** Renewed while the worker runs; after it, the upload of a crashed worker can be claimed again. */
const LEASE_SECONDS = 60;
const RENEW_SECONDS = 20;
const PROGRESS_MS = 1000;
/** Of five deliveries; the last one only reports the failure. */
const MAX_ATTEMPTS = 4;

/** A repository that is open for a push. */
export interface OpenedForPush {
  readonly repositoryId: string;
  readonly repository: Repository;
  readonly rules: PushRules;
}

/** What pushes need of the subjects above. */
export interface PushMeans {
  /** Does what options of a push ask. Without it they are read alone. */
  readonly propose?: Propose;
  /** Opens a repository beside code for who holds a token. @throws 401, 403 and 404 as a push is answered */
  readonly openBeside?: (deps: Deps, owner: RepositoryOwner, tokenId: number) => Promise<OpenedForPush>;
}

/**
 * Ingests a finished upload. The message may be delivered twice, late, or after a worker that crashed: an earlier
 * worker's transaction was committed exactly if its pack is in the list of packs.
 * @throws any failure, so that the message is redelivered
 */
export async function ingestUpload(deps: Deps, id: string, means: PushMeans = {}): Promise<void> {
  const { pushUploads, stagingArea: staging } = deps.store;
  const upload = await pushUploads.claim(id, LEASE_SECONDS, deps.now());
  if (upload === 'over') return;
  if (upload === 'busy') {
    // A new message instead of a failure, as attempts are limited: by then that worker has finished or its lease ended.
    return pushUploads.requeueAt(id, new Date(deps.now().getTime() + LEASE_SECONDS * 1000));
  }
  let failure: string | null = null;
  try {
    const report = await process(deps, upload, means);
    await staging.note(id, 'report', Buffer.from(JSON.stringify(report)));
  } catch (error) {
    failure = await failureOf(deps, upload, error);
  }
  await pushUploads.end(upload, failure, deps.now());
  await staging.discard(upload.staged);
}

/** Releases the upload if the failure is worth a retry. @throws it then @returns the error text otherwise */
async function failureOf(deps: Deps, upload: PushUpload, error: unknown): Promise<string> {
  if (error instanceof DomainError) return typeof error.detail === 'string' ? error.detail : error.message;
  if (error instanceof Stale || upload.fence < MAX_ATTEMPTS) {
    await deps.store.pushUploads.release(upload);
    throw error;
  }
  log('error', 'push given up', { id: upload.id, error: String(error) });
  return 'internal error';
}

async function process(deps: Deps, upload: PushUpload, means: PushMeans): Promise<PushReport> {
  const { stagingArea: staging, pushUploads } = deps.store;
  // Checked again: token, user, role and owner may have changed since the upload was created.
  const { repositoryId, repository, rules } = await openFor(deps, upload, means);
  const earlier = await earlierReport(deps, upload, repositoryId);
  if (earlier !== undefined) return earlier;
  // All earlier attempts timed out; another would too.
  if (upload.fence > MAX_ATTEMPTS) {
    throw new DomainError('unavailable', 'the push could not be taken in within the time there is for it');
  }
  const request = await staging.noted(upload.id, 'request');
  if (request === undefined) throw new DomainError('gone', '410 Gone: the upload has expired');

  const reporter = new ProgressReporter((progress) =>
    pushUploads.progress(upload, progress, LEASE_SECONDS, deps.now()),
  );
  try {
    const report = await ingest(
      deps,
      { request, pack: staging.read(upload.staged) },
      {
        ...rules,
        repository: recordingSteps(repository, deps, upload, (phase) => reporter.enter(phase)),
        onUnpack: (state) => reporter.set(state),
      },
    );
    // A worker that was considered dead may have committed first.
    const refused = report.refs.some(({ reason }) => reason !== undefined);
    return (refused ? await earlierReport(deps, upload, repositoryId) : undefined) ?? report;
  } finally {
    await reporter.end();
  }
}

async function openFor(
  deps: Deps,
  upload: PushUpload,
  { propose, openBeside }: PushMeans,
): Promise<OpenedForPush> {
  if ('beside' in upload) {
    if (openBeside === undefined) throw new RangeError('nothing opens repositories beside code');
    return openBeside(deps, upload.beside, upload.tokenId);
  }
  const credential = { kind: 'known-token', id: upload.tokenId } as const;
  const fullPath = String(upload.projectId);
  const access = await openGit(deps, { credential, fullPath, purpose: 'write', pushAccess });
  const { project } = access.project;
  return {
    repositoryId: project.repositoryId,
    repository: openRepository(deps, project, { pusher: access.actor }),
    rules: pushRules(deps, access, propose),
  };
}

/** The repository, with each externally visible step recorded before it is taken. */
function recordingSteps(
  repository: Repository,
  { store }: Deps,
  upload: PushUpload,
  enter: (phase: IngestProgress['phase']) => void,
): Repository {
  const { objects, refs } = repository;
  return {
    ...repository,
    objects: overriding(objects, {
      async newPack(content, about) {
        enter('storing');
        const pack = await objects.newPack(content, about);
        await store.pushUploads.addPack(upload, [...upload.packs, pack.id]);
        return pack;
      },
    }),
    refs: overriding(refs, {
      async compareAndSwap(updates, options) {
        for (const { id } of options?.packs ?? []) {
          const names = Buffer.from(JSON.stringify(updates.map(({ name }) => name)));
          await store.stagingArea.note(upload.id, movedNote(id), names);
        }
        await refs.compareAndSwap(updates, options);
      },
    }),
  };
}

const movedNote = (packId: string) => `moved-${packId}`;

/** The report of an earlier worker's transaction, if it was committed: exactly then its pack is listed. */
async function earlierReport(
  { store }: Deps,
  upload: PushUpload,
  repositoryId: string,
): Promise<PushReport | undefined> {
  if (upload.packs.length === 0) return undefined;
  const catalogue = await store.repositories
    .open(repositoryId)
    .catalogue()
    .catch((error: unknown) => {
      // One beside code begins with its first push.
      if (error instanceof Missing) return [];
      throw error;
    });
  const listed = new Set(catalogue.map(({ id }) => id));
  const pack = upload.packs.find((id) => listed.has(id));
  if (pack === undefined) return undefined;
  const [names, request] = await Promise.all([
    store.stagingArea.noted(upload.id, movedNote(pack)),
    store.stagingArea.noted(upload.id, 'request'),
  ]);
  const moved = new Set<string>(JSON.parse(Buffer.from(names!).toString()));
  const { commands } = await readPushRequest(request!);
  const refs = commands.map(({ name }) => ({
    name,
    // The reason is lost with the worker that refused it.
    reason: moved.has(name) ? undefined : 'not updated: push it again',
  }));
  return { unpack: 'ok', refs, messages: [] };
}

/** Stores the progress periodically, which also renews the lease. */
class ProgressReporter {
  readonly #write: (progress: IngestProgress) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #current: IngestProgress = { phase: 'receiving', done: 0, total: 0, bytes: 0 };
  #written: IngestProgress | undefined;
  #writtenAt = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (progress: IngestProgress) => Promise<void>) {
    this.#write = write;
    this.#timer = setInterval(() => this.#tick(), PROGRESS_MS);
  }

  set(progress: IngestProgress): void {
    this.#current = progress;
    if (progress.phase === 'resolving' && progress.done === progress.total) this.enter('checking');
  }

  enter(phase: IngestProgress['phase']): void {
    this.#current = { ...this.#current, phase };
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  #tick(): void {
    const age = (Date.now() - this.#writtenAt) / 1000;
    if (this.#current === this.#written && age < RENEW_SECONDS) return;
    this.#written = this.#current;
    this.#writtenAt = Date.now();
    // Failures are ignored: later writes follow, and a lost lease is detected by the conditions of the transaction.
    const write = this.#write;
    const progress = this.#current;
    this.#writing = this.#writing.then(() => write(progress)).catch(() => {});
  }
}

/** `target` with some methods replaced. A proxy, as a copy would lack the private fields of its class. */
function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      if (Object.hasOwn(methods, name)) return methods[name as keyof T];
      const value: unknown = Reflect.get(object, name, object);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}
