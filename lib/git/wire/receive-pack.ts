/**
 * The server's side of `git push` over stateless HTTP (gitprotocol-pack, "Pushing Data To a Server").
 * Nothing is stored before everything about the objects is known to be sound, and nothing is seen by anyone
 * before the one transaction that moves the refs.
 */
import { CorruptData } from '../objects.ts';
import { type Oid, ZERO_OID } from '../oid.ts';
import type { PackStore } from '../pack/store.ts';
import type { PackDescription } from '../ports.ts';
import { parseRefName, type RefName } from '../refname.ts';
import { WireError } from './error.ts';
import { Feed } from './feed.ts';
import { FLUSH, type PktReader, pkt } from './pkt-line.ts';
import { AncestryWalks, type Candidate, candidates, judge, type PushUpdate } from './push-update.ts';
import { Quarantine, type QuarantineOptions } from './quarantine.ts';
import { type ReceiveRequest, ReceiveRequestError, readCommands } from './receive-request.ts';
import { oneLine, reportStatus } from './report.ts';
import type { Repository } from './repository.ts';
import { onBand } from './side-band.ts';
import { failTogether, updateRefs } from './update-refs.ts';
import type { Visibility } from './visible.ts';

interface ReceivePackLimits {
  /** Bytes of the whole request, decompressed: commands and pack. */
  readonly maxRequestBytes: number;
  /** Default 20,000. */
  readonly maxCommands?: number;
  /** Default 100. */
  readonly maxPushOptions?: number;
}

export interface ReceivePackOptions extends Omit<QuarantineOptions, 'onProgress'> {
  /** Refs that are shown to who pushes, and may be pushed to. Default: all. */
  readonly pushable?: Visibility;
  readonly limits: ReceivePackLimits;
  /** Short name that HEAD gets with the first branches of a repository, when it is one of them. */
  readonly defaultBranch?: string;
  /** The policy: why this update is refused (one line, shown behind the ref), or undefined. */
  readonly authorize?: (
    update: PushUpdate,
    push: IncomingPush,
  ) => string | undefined | Promise<string | undefined>;
  readonly onError?: (cause: unknown) => void;
  /** What the client is told of a failure that is no mystery, as one line; `internal error` of all others. */
  readonly failureText?: (cause: unknown) => string | undefined;
}

interface IncomingPush {
  /** Sees what the push brought beside what is stored. */
  readonly store: PackStore;
  /** As given with `git push -o`. */
  readonly pushOptions: readonly string[];
}

export interface PushOutcome {
  /** Refs that have a new value now, in the order of the commands. */
  readonly updated: readonly PushUpdate[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  /** The pack that was listed, when the push brought objects. */
  readonly pack: PackDescription | undefined;
  /** What HEAD points to, when this push decided it. */
  readonly head: RefName | undefined;
  readonly pushOptions: readonly string[];
}

const NOTHING: PushOutcome = { updated: [], rejected: [], pack: undefined, head: undefined, pushOptions: [] };

/** A proxy on the way may close a connection that is silent for longer. */
const KEEPALIVE_MS = 5000;

/**
 * Runs by itself, whether the answer is read or not: a client that leaves does not stop what it started half way.
 * `outcome` never rejects.
 */
export function receivePack(
  repository: Repository,
  reader: PktReader,
  options: ReceivePackOptions,
): { readonly body: AsyncIterable<Uint8Array>; readonly outcome: Promise<PushOutcome> } {
  const feed = new Feed();
  const outcome = receive(repository, reader, options, feed)
    .catch((cause) => {
      feed.push(pkt(`ERR ${failed(cause, options)}\n`));
      return NOTHING;
    })
    .finally(() => feed.end());
  return { body: feed, outcome };
}

async function receive(
  repository: Repository,
  reader: PktReader,
  options: ReceivePackOptions,
  feed: Feed,
): Promise<PushOutcome> {
  const { maxCommands = 20_000, maxPushOptions = 100 } = options.limits;
  let request: ReceiveRequest | undefined;
  try {
    request = await readCommands(reader, { maxCommands, maxPushOptions });
  } catch (error) {
    if (!(error instanceof ReceiveRequestError)) throw error;
    return refuse(error.partial, error.message, feed);
  }
  if (request === undefined) return NOTHING;
  const { sideBand, pushOptions } = request;
  const keepalive = setInterval(() => {
    // git's own: an empty line on band 1.
    if (sideBand !== 'none') feed.push(pkt(Uint8Array.of(1)));
  }, KEEPALIVE_MS).unref();
  const { quiet } = request;
  const say = (text: string) => feed.push(...onBand(sideBand, 2, text));
  const quarantine = new Quarantine(repository, {
    ...options,
    onProgress: (text) => {
      if (!quiet) say(text);
    },
  });
  try {
    const { all, hasHead } = await namedCandidates(repository, request, options.pushable);
    // git's own: to who wants a ref gone, one that is not there is gone.
    if (all.some(isNoRef)) say('warning: deleting a non-existent ref\n');
    const failure = await unpack(quarantine, reader, all, options);
    if (failure !== undefined) return refuse(request, failure, feed);
    let stored: Stored = {};
    try {
      await judgeAll(all, quarantine, request, options);
      stored = await store(repository, all, quarantine, request, { ...options, hasHead });
    } catch (cause) {
      const reason = failed(cause, options);
      for (const candidate of all) candidate.reason ??= reason;
    }
    answer(request, 'ok', all, feed);
    return outcomeOf(all, stored, pushOptions);
  } finally {
    clearInterval(keepalive);
    await quarantine.discard();
  }
}

const isNoRef = ({ command, reason }: Candidate) =>
  reason === undefined && command.from === ZERO_OID && command.to === ZERO_OID;

async function namedCandidates(
  repository: Repository,
  request: ReceiveRequest,
  pushable: Visibility | undefined,
): Promise<{ readonly all: Candidate[]; readonly hasHead: boolean }> {
  const names = new Set<RefName>();
  for (const command of request.commands) {
    const name = parseRefName(command.name);
    if (name !== undefined) names.add(name);
  }
  const given = request.commands.filter(({ to }) => to !== ZERO_OID);
  if (given.length > 0) repository.store.prepare(given.map(({ to }) => to));
  const [current, head] = await Promise.all([repository.refs.get([...names]), repository.refs.headRef()]);
  const all = candidates(request.commands, current, head.target, pushable);
  if (request.atomic) failTogether(all);
  return { all, hasHead: head.head !== undefined };
}

/** @returns why the pack was refused. A push that only deletes brings none. */
async function unpack(
  quarantine: Quarantine,
  reader: PktReader,
  all: readonly Candidate[],
  options: ReceivePackOptions,
): Promise<string | undefined> {
  if (!all.some(({ command, reason }) => reason === undefined && command.to !== ZERO_OID)) return undefined;
  try {
    await quarantine.unpack(reader.rest());
    return undefined;
  } catch (error) {
    if (error instanceof CorruptData || error instanceof WireError) return error.message;
    return failed(error, options);
  }
}

/** Objects first, then the policy, which may trust what the objects say. */
async function judgeAll(
  all: readonly Candidate[],
  quarantine: Quarantine,
  request: ReceiveRequest,
  options: ReceivePackOptions,
): Promise<void> {
  if (!(await quarantine.connected(newTips(all)))) notConnected(all);
  const push: IncomingPush = { store: quarantine.store, pushOptions: request.pushOptions };
  const walks = new AncestryWalks(quarantine.store);
  for (const candidate of all) {
    await judge(candidate, quarantine.store, walks);
    if (candidate.update === undefined || candidate.reason !== undefined) continue;
    candidate.reason = await options.authorize?.(candidate.update, push);
  }
  if (request.atomic) failTogether(all);
}

interface Stored {
  readonly pack?: PackDescription | undefined;
  readonly head?: RefName | undefined;
}

async function store(
  repository: Repository,
  all: readonly Candidate[],
  quarantine: Quarantine,
  request: ReceiveRequest,
  options: ReceivePackOptions & { readonly hasHead: boolean },
): Promise<Stored> {
  if (newTips(all).length > 0 && !(await quarantine.keep())) notConnected(all);
  // When this throws, nobody knows whether the packs are listed: they stay, and a sweeper takes what is not.
  const result = await updateRefs(repository.refs, all, {
    atomic: request.atomic,
    packs: () => quarantine.packs,
    objects: quarantine.store,
    defaultBranch: options.defaultBranch,
    hasHead: options.hasHead,
    recheck: () => quarantine.stillConnected(newTips(all)),
  });
  if (!result.listed) await quarantine.giveUp();
  return { pack: result.listed ? quarantine.pack : undefined, head: result.head };
}

/** Deletions need no objects. */
function notConnected(all: readonly Candidate[]): void {
  for (const one of all) if (one.command.to !== ZERO_OID) one.reason ??= 'missing necessary objects';
}

function failed(cause: unknown, { onError, failureText }: ReceivePackOptions): string {
  const known = failureText?.(cause);
  if (known !== undefined) return oneLine(known);
  onError?.(cause);
  return 'internal error';
}

/** The values that are to be reachable when the push is done. */
function newTips(all: readonly Candidate[]): Oid[] {
  const passing = all.filter(({ command, reason }) => reason === undefined && command.to !== ZERO_OID);
  return [...new Set(passing.map(({ command }) => command.to))];
}

/** Nothing of the push was taken. */
function refuse(request: ReceiveRequest, failure: string, feed: Feed): PushOutcome {
  const all = request.commands.map((command) => ({ command, name: undefined, reason: 'unpacker error' }));
  if (request.commands.length === 0 && request.sideBand === 'none')
    feed.push(pkt(`ERR ${oneLine(failure)}\n`));
  else if (request.commands.length === 0)
    feed.push(...onBand(request.sideBand, 3, `${oneLine(failure)}\n`), FLUSH);
  else answer(request, failure, all, feed);
  return outcomeOf(all, {}, request.pushOptions);
}

function answer(request: ReceiveRequest, unpack: string, all: readonly Candidate[], feed: Feed): void {
  const { sideBand } = request;
  if (request.report !== 'none') {
    const refs = all.map(({ command, reason }) => ({ name: command.name, reason }));
    feed.push(...reportStatus(unpack, refs, sideBand));
  }
  if (sideBand !== 'none') feed.push(FLUSH);
}

function outcomeOf(all: readonly Candidate[], stored: Stored, pushOptions: readonly string[]): PushOutcome {
  const updated: PushUpdate[] = [];
  const rejected: { name: string; reason: string }[] = [];
  for (const { command, reason, update } of all) {
    if (reason !== undefined) rejected.push({ name: command.name, reason });
    else if (update !== undefined && update.from !== update.to) updated.push(update);
  }
  return { updated, rejected, pack: stored.pack, head: stored.head, pushOptions };
}
