/**
 * Copies a repository from a foreign server to a staging area. The worker needs no permissions, because the order
 * contains presigned URLs for everything it reads and writes.
 */
import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RefName } from '../git/refname.ts';
import type { DestinationPolicy } from './destination.ts';
import { type Credentials, GitRemote } from './git-remote.ts';
import { GitRemoteError, type GitRemoteFailure } from './git-remote-error.ts';
import type { RemoteRefs } from './remote-refs.ts';
import { unseal } from './seal.ts';

/** The job of the queue `outbound` that carries out a {@link StagingOrder}. */
export const IMPORT_FETCH_JOB = 'repository.import-fetch';
/** The job of the queue `ingest` that makes such an order ({@link ImportOrderBody}). */
export const IMPORT_ORDER_JOB = 'import.order';
/** Jobs of the queue `ingest` by which it reports that it began, and how it ended ({@link StagingOutcome}). */
export const IMPORT_STARTED_JOB = 'import.started';
export const IMPORT_STAGED_JOB = 'import.staged';

/** The body of {@link IMPORT_ORDER_JOB}. */
export interface ImportOrderBody {
  readonly projectId: number;
  readonly importId: string;
  /** Of the sealed credentials, if there are any. */
  readonly key?: string;
}

/** The body of {@link IMPORT_FETCH_JOB}. */
export interface StagingOrder {
  /** URL of the repository, without credentials. */
  readonly url: string;
  /** URL of the sealed `{ username, password }` (`seal.ts`), and their key. */
  readonly credentials?: { readonly url: string; readonly key: string } | undefined;
  readonly packUrl: string;
  readonly refsUrl: string;
  readonly maxPackBytes: number;
  /** Destinations allowed although not on the public internet: see `parseAllowList`. */
  readonly allow?: string;
  /** When the URLs expire, in milliseconds since 1970. Orders of the release before do not say. */
  readonly signedUntil?: number;
}

/** Stored next to the pack, as JSON. */
export interface StagedRefs {
  /** HEAD's target. */
  readonly head: string | null;
  readonly refs: readonly (readonly [name: string, oid: string])[];
  /** Size of the pack that belongs to these refs, because an order may be executed twice. */
  readonly packBytes: number;
}

export type StagingOutcome =
  | { readonly outcome: 'staged' | 'empty' }
  | { readonly outcome: 'failed'; readonly failure: StagingFailure };

/** `staging`: the URLs of the order could not be read or written. */
export type StagingFailure = GitRemoteFailure | 'staging';

export interface StagingOptions {
  readonly policy: DestinationPolicy;
  /** Aborts everything. */
  readonly signal: AbortSignal;
}

/** Never throws for errors of the foreign server. */
export async function stageRepository(order: StagingOrder, options: StagingOptions): Promise<StagingOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'import-'));
  try {
    return await stage(order, options, join(folder, 'pack'));
  } catch (error) {
    if (error instanceof GitRemoteError) return { outcome: 'failed', failure: error.failure };
    if (error instanceof StagingUnusable) return { outcome: 'failed', failure: 'staging' };
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function stage(
  order: StagingOrder,
  { policy, signal }: StagingOptions,
  scratch: string,
): Promise<StagingOutcome> {
  const { url, maxPackBytes } = order;
  const remote = new GitRemote(new URL(url), {
    policy,
    signal,
    maxPackBytes,
    credentials: await credentialsOf(order, signal),
  });
  const listing = await remote.refs();
  if (listing.refs.length === 0) return { outcome: 'empty' };
  let packBytes = 0;
  const wants = [...new Set(listing.refs.map(({ oid }) => oid))];
  const measured = async function* () {
    for await (const piece of remote.pack(wants)) {
      packBytes += piece.length;
      yield piece;
    }
  };
  await pipeline(Readable.from(measured()), createWriteStream(scratch));
  const refs: StagedRefs = {
    head: headOf(listing) ?? null,
    refs: listing.refs.map(({ name, oid }) => [name, oid]),
    packBytes,
  };
  await put(order.packUrl, await openAsBlob(scratch), signal);
  await put(order.refsUrl, new Blob([JSON.stringify(refs)]), signal);
  return { outcome: 'staged' };
}

/** If HEAD's target is unknown, because HEAD is detached or the server is old, takes a branch at the same commit. */
function headOf({ head, headOid, refs }: RemoteRefs): RefName | undefined {
  if (head !== undefined) return head;
  const there = refs.filter(({ name, oid }) => oid === headOid && name.startsWith('refs/heads/'));
  const usual = ['refs/heads/main', 'refs/heads/master'];
  return (there.find(({ name }) => usual.includes(name)) ?? there[0])?.name;
}

async function credentialsOf(
  { credentials }: StagingOrder,
  signal: AbortSignal,
): Promise<Credentials | undefined> {
  if (credentials === undefined) return undefined;
  try {
    const answer = await fetch(credentials.url, { signal, redirect: 'error' });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return JSON.parse(unseal({ key: credentials.key, bytes })) as Credentials;
  } catch {
    throw new StagingUnusable('no credentials');
  }
}

class StagingUnusable extends Error {
  override readonly name = 'StagingUnusable';
}

const MAX_ATTEMPTS = 3;

async function put(url: string, body: Blob, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await fetch(url, { method: 'PUT', body, signal, redirect: 'error' });
      await answer.body?.cancel();
      if (answer.ok) return;
      throw new StagingUnusable(`answered ${answer.status}`);
    } catch (cause) {
      // The URL is itself a credential, so it must not appear in messages.
      if (attempt === MAX_ATTEMPTS || signal.aborted) throw new StagingUnusable('upload failed', { cause });
    }
  }
}
