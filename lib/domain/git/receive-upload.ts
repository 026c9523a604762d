import { WireError } from '../../git/wire/error.ts';
import { PktReader } from '../../git/wire/pkt-line.ts';
import { type PushReport, readPushReport } from '../../git/wire/push-report.ts';
import type { ReceivePackOptions } from '../../git/wire/receive-pack.ts';
import {
  REQUEST_LIMITS,
  type ReceiveRequest,
  ReceiveRequestError,
  readCommands,
} from '../../git/wire/receive-request.ts';
import type { Repository } from '../../git/wire/repository.ts';
import type { Deps } from '../deps.ts';
import { badRequest, DomainError } from '../errors.ts';
import { isPushable } from '../refs/hidden-refs.ts';
import { defaultBranchName } from '../repository/default-branch-name.ts';
import { MAX_PUSH_BYTES } from '../repository/size-limits.ts';

/** A push that was uploaded to the staging area. */
export interface StagedPush {
  /** The part of a `git push` request before its pack: see `pushRequest`. */
  readonly request: Uint8Array;
  readonly pack: AsyncIterable<Uint8Array>;
}

export interface IngestOptions
  extends PushRules,
    Pick<ReceivePackOptions, 'defaultBranch' | 'onUnpack' | 'packLimits' | 'scratchDir'> {
  readonly repository: Repository;
}

/** What decides about a push, and how it is answered. */
export type PushRules = Pick<ReceivePackOptions, 'authorize' | 'conclude' | 'onSmallBlob'>;

/**
 * Ingests a staged pack and updates the refs, exactly as a push does: the same object checks, the same policy, the same
 * transaction. Refused updates are in the report.
 * @throws internal errors. The transaction has then failed or, if its response was lost, succeeded.
 */
export async function ingest(
  deps: Deps,
  push: StagedPush,
  { repository, conclude, ...options }: IngestOptions,
): Promise<PushReport> {
  const failures: unknown[] = [];
  const { receivePack } = await import('../../git/wire/receive-pack.ts');
  let answer = '';
  const { body, outcome } = receivePack(repository, new PktReader(concatenated(push)), {
    defaultBranch: await defaultBranchName(deps),
    ...options,
    pushable: isPushable,
    limits: { maxRequestBytes: MAX_PUSH_BYTES },
    onError: (cause) => failures.push(cause),
    failureText: (cause) => (cause instanceof DomainError ? cause.text : undefined),
    // The report has all that the pusher is told.
    conclude: async (moved) => {
      answer = (await conclude?.(moved)) ?? '';
      return undefined;
    },
  });
  const report = await readPushReport(body);
  await outcome;
  if (failures.length > 0) throw failures[0];
  return { ...report, messages: [...report.messages, ...answer.split('\n').filter((line) => line !== '')] };
}

async function* concatenated({ request, pack }: StagedPush): AsyncGenerator<Uint8Array> {
  yield request;
  yield* pack;
}

/** @throws 400 if it is not the start of a push with `report-status` and side bands */
export async function readPushRequest(bytes: Uint8Array): Promise<ReceiveRequest> {
  async function* body() {
    yield bytes;
  }
  const reader = new PktReader(body());
  let request: ReceiveRequest | undefined;
  try {
    request = await readCommands(reader, REQUEST_LIMITS);
    for await (const rest of reader.rest()) {
      if (rest.length > 0) throw badRequest('a pack does not belong here');
    }
  } catch (error) {
    if (error instanceof WireError || error instanceof ReceiveRequestError) throw badRequest(error.message);
    throw error;
  }
  if (request === undefined) throw badRequest('a push of nothing');
  if (request.report === 'none' || request.sideBand === 'none') {
    throw badRequest('a push asks for a report and for side bands');
  }
  return request;
}
