/**
 * The server side of `git push` over stateless HTTP (gitprotocol-pack, "Pushing Data To a Server").
 * Nothing is stored before all objects are checked, and nothing is visible to readers before the one transaction that
 * moves the refs.
 */
import { CorruptData } from '../corrupt-data.ts';
import { type Oid, ZERO_OID } from '../oid.ts';
import type { PackStore } from '../pack/store.ts';
import type { PackDescription } from '../ports.ts';
import { parseRefName, type RefName } from '../refname.ts';
import { WireError } from './error.ts';
import { OutputQueue } from './output-queue.ts';
import { FLUSH, type PktReader, pkt } from './pkt-line.ts';
import { AncestryWalks, type Candidate, candidates, type PushUpdate, validate } from './push-update.ts';
import { Quarantine, type QuarantineOptions } from './quarantine.ts';
import {
  REQUEST_LIMITS,
  type ReceiveRequest,
  ReceiveRequestError,
  type ReceiveRequestLimits,
  readCommands,
} from './receive-request.ts';
import { oneLine, reportStatus } from './report.ts';
import type { Repository } from './repository.ts';
import { onBand } from './side-band.ts';
import { failTogether, updateRefs } from './update-refs.ts';
import type { Visibility } from './visible.ts';

/** By default those of {@link REQUEST_LIMITS}. */
export interface ReceivePackLimits extends Partial<ReceiveRequestLimits> {
  /** Bytes of the decompressed request: commands and pack. */
  readonly maxRequestBytes: number;
}

export interface ReceivePackOptions extends Omit<QuarantineOptions, 'onProgress'> {
  /** Refs that are advertised for pushes and can be pushed to. Default: all. */
  readonly pushable?: Visibility;
  readonly limits: ReceivePackLimits;
  /** Short name of the branch that HEAD is set to if it is among the first branches pushed to a repository. */
  readonly defaultBranch?: string;
  /** The policy: returns why an update is refused (one line, shown after the ref), or undefined. */
  readonly authorize?: (
    update: PushUpdate,
    push: IncomingPush,
  ) => string | undefined | Promise<string | undefined>;
  /** Tells what `authorize` refuses on the terminal too, after this name, as hooks do: some clients show only that. */
  readonly policyName?: string;
  /** Lines for the terminal, those of `git push --quiet` too. */
  readonly notice?: string;
  /**
   * Called when the refs have moved, before the answer ends; returns more lines for the terminal. The push stands whatever
   * happens here.
   */
  readonly conclude?: (outcome: PushOutcome) => Promise<string | undefined>;
  readonly onError?: (cause: unknown) => void;
  /** The message for the client for known errors, one line; all others are `internal error`. */
  readonly failureText?: (cause: unknown) => string | undefined;
}

export interface IncomingPush {
  /** The stored objects plus the received ones. */
  readonly store: PackStore;
  /** As given with `git push -o`. */
  readonly pushOptions: readonly string[];
}

export interface PushOutcome {
  /** The updated refs, in the order of the commands. */
  readonly updated: readonly PushUpdate[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  /** The pack that was listed, if the push had objects. */
  readonly pack: PackDescription | undefined;
  /** HEAD's new target, if this push set it. */
  readonly head: RefName | undefined;
  readonly pushOptions: readonly string[];
}

const NOTHING: PushOutcome = { updated: [], rejected: [], pack: undefined, head: undefined, pushOptions: [] };

/** A push may be refused for as many reasons as it has refs; each of them has one in the report. */
const MAX_TOLD = 20;

/** Proxies may close a connection without traffic for longer. */
const KEEPALIVE_MS = 5000;

/**
 * Handles a push. Runs to the end whether the body is read or not, so that a client that disconnects does not leave the
 * push half done. `outcome` never rejects.
 */
export function receivePack(
  repository: Repository,
  reader: PktReader,
  options: ReceivePackOptions,
): { readonly body: AsyncIterable<Uint8Array>; readonly outcome: Promise<PushOutcome> } {
  const output = new OutputQueue();
  const outcome = receive(repository, reader, options, output)
    .catch((cause) => {
      output.push(pkt(`ERR ${failed(cause, options)}\n`));
      return NOTHING;
    })
    .finally(() => output.end());
  return { body: output, outcome };
}

async function receive(
  repository: Repository,
  reader: PktReader,
  options: ReceivePackOptions,
  output: OutputQueue,
): Promise<PushOutcome> {
  let request: ReceiveRequest | undefined;
  try {
    request = await readCommands(reader, { ...REQUEST_LIMITS, ...options.limits });
  } catch (error) {
    if (!(error instanceof ReceiveRequestError)) throw error;
    return refuse(error.partial, error.message, output);
  }
  if (request === undefined) return NOTHING;
  const { sideBand, pushOptions } = request;
  const keepalive = setInterval(() => {
    // git's keep-alive packet: an empty line on band 1.
    if (sideBand !== 'none') output.push(pkt(Uint8Array.of(1)));
  }, KEEPALIVE_MS).unref();
  const { quiet } = request;
  const say = (text: string) => output.push(...onBand(sideBand, 2, text));
  const quarantine = new Quarantine(repository, {
    ...options,
    onProgress: (text) => {
      if (!quiet) say(text);
    },
  });
  try {
    const { all, hasHead } = await namedCandidates(repository, request, options.pushable);
    // As in git, deleting a ref that does not exist succeeds with a warning.
    if (all.some(isNoRef)) say('warning: deleting a non-existent ref\n');
    const failure = await unpack(quarantine, reader, all, options);
    if (failure !== undefined) return refuse(request, failure, output);
    let stored: Stored = {};
    try {
      const refusals = await validateAll(all, quarantine, request, options);
      for (const reason of refusals.slice(0, MAX_TOLD)) say(`${options.policyName}: ${oneLine(reason)}\n`);
      stored = await store(repository, all, quarantine, request, { ...options, hasHead });
    } catch (cause) {
      const reason = failed(cause, options);
      for (const candidate of all) candidate.reason ??= reason;
    }
    if (options.notice) say(options.notice);
    const outcome = outcomeOf(all, stored, pushOptions);
    const told = await concluded(outcome, options);
    if (told) say(told);
    answer(request, 'ok', all, output);
    return outcome;
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

/** @returns why the pack was refused. A push that only deletes refs has no pack. */
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

/**
 * Checks the objects first, then the policy, which can rely on them.
 * @returns why the policy refuses, each reason once; nothing unless it has a name
 */
async function validateAll(
  all: readonly Candidate[],
  quarantine: Quarantine,
  request: ReceiveRequest,
  options: ReceivePackOptions,
): Promise<string[]> {
  if (await quarantine.endsAtShallow(request.shallow)) {
    for (const one of all) {
      if (quarantine.received(one.command.to)) one.reason ??= 'shallow update not allowed';
    }
    await quarantine.discard();
  }
  if (!(await quarantine.connected(newTips(all)))) notConnected(all);
  const push: IncomingPush = { store: quarantine.store, pushOptions: request.pushOptions };
  const walks = new AncestryWalks(quarantine.store);
  const refusals = new Set<string>();
  for (const candidate of all) {
    await validate(candidate, quarantine.store, walks);
    if (candidate.update === undefined || candidate.reason !== undefined) continue;
    candidate.reason = await options.authorize?.(candidate.update, push);
    if (candidate.reason !== undefined) refusals.add(candidate.reason);
  }
  if (request.atomic) failTogether(all);
  return options.policyName === undefined ? [] : [...refusals];
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
  if (newTips(all).length > 0 && !(await quarantine.storePacks())) notConnected(all);
  // If this throws, the packs may be listed or not: keep them, and let the sweeper delete unlisted ones.
  const result = await updateRefs(repository.refs, all, {
    atomic: request.atomic,
    packs: () => quarantine.packs,
    objects: quarantine.store,
    defaultBranch: options.defaultBranch,
    hasHead: options.hasHead,
    pushOptions: request.pushOptions,
    recheck: () => quarantine.stillConnected(newTips(all)),
  });
  if (!result.listed) await quarantine.rollback();
  return { pack: result.listed ? quarantine.pack : undefined, head: result.head };
}

/** Refuses all candidates except deletions, which need no objects. */
function notConnected(all: readonly Candidate[]): void {
  for (const one of all) if (one.command.to !== ZERO_OID) one.reason ??= 'missing necessary objects';
}

function failed(cause: unknown, { onError, failureText }: ReceivePackOptions): string {
  const known = failureText?.(cause);
  if (known !== undefined) return oneLine(known);
  onError?.(cause);
  return 'internal error';
}

async function concluded(
  outcome: PushOutcome,
  { conclude, onError }: ReceivePackOptions,
): Promise<string | undefined> {
  if (outcome.updated.length === 0) return undefined;
  try {
    return await conclude?.(outcome);
  } catch (error) {
    onError?.(error);
    return undefined;
  }
}

/** The new values of the accepted refs. */
function newTips(all: readonly Candidate[]): Oid[] {
  const passing = all.filter(({ command, reason }) => reason === undefined && command.to !== ZERO_OID);
  return [...new Set(passing.map(({ command }) => command.to))];
}

/** Answers that the whole push was refused. */
function refuse(request: ReceiveRequest, failure: string, output: OutputQueue): PushOutcome {
  const all = request.commands.map((command) => ({ command, name: undefined, reason: 'unpacker error' }));
  if (request.commands.length === 0 && request.sideBand === 'none')
    output.push(pkt(`ERR ${oneLine(failure)}\n`));
  else if (request.commands.length === 0)
    output.push(...onBand(request.sideBand, 3, `${oneLine(failure)}\n`), FLUSH);
  else answer(request, failure, all, output);
  return outcomeOf(all, {}, request.pushOptions);
}

function answer(
  request: ReceiveRequest,
  unpack: string,
  all: readonly Candidate[],
  output: OutputQueue,
): void {
  const { sideBand } = request;
  if (request.report !== 'none') {
    const refs = all.map(({ command, reason }) => ({ name: command.name, reason }));
    output.push(...reportStatus(unpack, refs, sideBand));
  }
  if (sideBand !== 'none') output.push(FLUSH);
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
