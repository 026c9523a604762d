/**
 * Brings a repository from somebody else's server to a staging area, by somebody who may do nothing but that: where
 * to put it came with the order, as presigned URLs.
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

/** Plain data: the body of a message. */
export interface StagingOrder {
  /** Of the repository, without credentials. */
  readonly url: string;
  /** Where `{ username, password }` lie sealed (`seal.ts`), and the key to them. */
  readonly credentials?: { readonly url: string; readonly key: string } | undefined;
  readonly packUrl: string;
  readonly refsUrl: string;
  readonly maxPackBytes: number;
  /** What may be called although it is not on the public internet, as `parseAllowList` reads it. */
  readonly allow?: string;
}

/** What is put beside the pack: JSON. */
export interface StagedRefs {
  /** What HEAD points to. */
  readonly head: string | null;
  readonly refs: readonly (readonly [name: string, oid: string])[];
  /** Of the pack these refs came with: an order may be carried out twice. */
  readonly packBytes: number;
}

export type StagingOutcome =
  | { readonly outcome: 'staged' | 'empty' }
  | { readonly outcome: 'failed'; readonly failure: StagingFailure };

/** `staging`: what was brought could not be put down, or what the order names could not be fetched. */
export type StagingFailure = GitRemoteFailure | 'staging';

export interface StagingOptions {
  readonly policy: DestinationPolicy;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

/** Never throws for anything the other side does. */
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

/** A HEAD that is no symbolic ref, or of a server that does not tell, is taken for the branch that stands there too. */
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

const ATTEMPTS = 3;

async function put(url: string, body: Blob, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await fetch(url, { method: 'PUT', body, signal, redirect: 'error' });
      await answer.body?.cancel();
      if (answer.ok) return;
      throw new StagingUnusable(`answered ${answer.status}`);
    } catch (cause) {
      // The URL is a credential of its own: it stands in no message.
      if (attempt === ATTEMPTS || signal.aborted) throw new StagingUnusable('nothing put', { cause });
    }
  }
}
