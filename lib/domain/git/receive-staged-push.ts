import type { PushReport } from '../../git/wire/push-report.ts';
import type { Repository } from '../../git/wire/repository.ts';
import { Stale } from '../../store/errors.ts';
import type { IngestProgress, PushUpload } from '../../store/git/push-uploads.ts';
import { log } from '../../telemetry/log.ts';
import { openGit } from '../access/git-access.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { openRepository } from '../repository/open.ts';
import { ingest, readPushRequest } from './receive-upload.ts';

/** Renewed while the work goes on: one that died is taken over that soon. */
const LEASE_SECONDS = 60;
const RENEW_SECONDS = 20;
const PROGRESS_MS = 1000;
/** Of five deliveries; the last one tells whoever waits that it failed. */
const MAX_ATTEMPTS = 4;

/**
 * Takes in a finished upload: a message may come twice, late, or after a worker that died in the middle. Whether an
 * earlier worker's transaction happened, the listing of its pack says.
 * @throws what went wrong: the message comes again
 */
export async function ingestUpload(deps: Deps, id: string): Promise<void> {
  const { pushUploads, staging } = deps.store;
  const upload = await pushUploads.claim(id, LEASE_SECONDS, deps.now());
  if (upload === 'over') return;
  if (upload === 'busy') {
    // Not a failure, of which a message has few: that worker lives, or its hold ends by then.
    return pushUploads.requeueAt(id, new Date(deps.now().getTime() + LEASE_SECONDS * 1000));
  }
  let failure: string | null = null;
  try {
    const report = await judged(deps, upload);
    await staging.note(id, 'report', Buffer.from(JSON.stringify(report)));
  } catch (error) {
    failure = await failureOf(deps, upload, error);
  }
  await pushUploads.end(upload, failure, deps.now());
  await staging.discard(upload.staged);
}

/** @throws what is worth another attempt, having let go of the upload */
async function failureOf(deps: Deps, upload: PushUpload, error: unknown): Promise<string> {
  if (error instanceof DomainError) return typeof error.detail === 'string' ? error.detail : error.message;
  if (error instanceof Stale || upload.fence < MAX_ATTEMPTS) {
    await deps.store.pushUploads.release(upload);
    throw error;
  }
  log('error', 'push given up', { id: upload.id, error: String(error) });
  return 'internal error';
}

async function judged(deps: Deps, upload: PushUpload): Promise<PushReport> {
  const { staging, pushUploads } = deps.store;
  // Everything may have changed since it was begun: the token, the user, the role, the project.
  const credential = { kind: 'known-token', id: upload.tokenId } as const;
  const access = await openGit(deps, { credential, fullPath: String(upload.projectId), purpose: 'write' });
  const { project } = access.project;
  const earlier = await movedBefore(deps, upload, project.repositoryId);
  if (earlier !== undefined) return earlier;
  // Those before were ended from outside: this one would be too.
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
      access,
      { request, pack: staging.read(upload.staged) },
      {
        repository: noting(openRepository(deps, project, { pusher: access.actor }), deps, upload, (phase) =>
          reporter.enter(phase),
        ),
        onUnpack: (state) => reporter.set(state),
      },
    );
    // A worker that seemed dead may have been first after all.
    const refused = report.refs.some(({ reason }) => reason !== undefined);
    return (refused ? await movedBefore(deps, upload, project.repositoryId) : undefined) ?? report;
  } finally {
    await reporter.end();
  }
}

/** The repository, with each step that others may see noted before it is taken. */
function noting(
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
          await store.staging.note(upload.id, movedNote(id), names);
        }
        await refs.compareAndSwap(updates, options);
      },
    }),
  };
}

const movedNote = (packId: string) => `moved-${packId}`;

/** What an earlier worker's transaction did, when it happened: its pack is listed then, and in no other case. */
async function movedBefore(
  { store }: Deps,
  upload: PushUpload,
  repositoryId: string,
): Promise<PushReport | undefined> {
  if (upload.packs.length === 0) return undefined;
  const listed = new Set((await store.repositories.open(repositoryId).catalogue()).map(({ id }) => id));
  const pack = upload.packs.find((id) => listed.has(id));
  if (pack === undefined) return undefined;
  const [names, request] = await Promise.all([
    store.staging.noted(upload.id, movedNote(pack)),
    store.staging.noted(upload.id, 'request'),
  ]);
  const moved = new Set<string>(JSON.parse(Buffer.from(names!).toString()));
  const { commands } = await readPushRequest(request!);
  const refs = commands.map(({ name }) => ({
    name,
    // Why is not known any more: the worker that refused it died.
    reason: moved.has(name) ? undefined : 'not updated: push it again',
  }));
  return { unpack: 'ok', refs, messages: [] };
}

/** Writes down how far the work is, now and then, and with it that somebody works. */
class ProgressReporter {
  readonly #write: (progress: IngestProgress) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #now: IngestProgress = { phase: 'receiving', done: 0, total: 0, bytes: 0 };
  #written: IngestProgress | undefined;
  #writtenAt = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (progress: IngestProgress) => Promise<void>) {
    this.#write = write;
    this.#timer = setInterval(() => this.#tick(), PROGRESS_MS);
  }

  set(progress: IngestProgress): void {
    this.#now = progress;
    if (progress.phase === 'resolving' && progress.done === progress.total) this.enter('checking');
  }

  enter(phase: IngestProgress['phase']): void {
    this.#now = { ...this.#now, phase };
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  #tick(): void {
    const age = (Date.now() - this.#writtenAt) / 1000;
    if (this.#now === this.#written && age < RENEW_SECONDS) return;
    this.#written = this.#now;
    this.#writtenAt = Date.now();
    // One that is not written is followed by others; a lost hold shows where it matters.
    const write = this.#write;
    const now = this.#now;
    this.#writing = this.#writing.then(() => write(now)).catch(() => {});
  }
}

/** `target` with some methods replaced. Its class may keep private fields, which a copy would not have. */
function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      if (Object.hasOwn(methods, name)) return methods[name as keyof T];
      const value: unknown = Reflect.get(object, name, object);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}
