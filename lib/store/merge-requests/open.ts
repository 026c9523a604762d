/** Open merge requests by the project that they are from, or to: for workers, apart from what every request carries. */

import type {
  BranchOfProject,
  MergeRequestAddress,
  MergeRequestRecord,
} from '../../records/merge-requests.ts';
import { MAINTENANCE, message, type Outbox } from '../outbox/outbox.ts';
import {
  mergeRequestKeys,
  mergeRequestSourcePrefix,
  mergeRequestSources,
} from '../row-keys/merge-requests.ts';
import { iidOf } from '../row-keys/tracked.ts';
import type { Table } from '../table/table.ts';
import {
  CLOSE_SOURCELESS_JOB,
  type MergeRequests,
  type PageOf,
  type ProposedBranch,
} from './merge-requests.ts';

interface Stores {
  readonly table: Table;
  readonly mergeRequests: MergeRequests;
  readonly outbox: Outbox;
}

/** Returns a page of the open merge requests whose source branches are in a project. @param after of the page before */
export async function openFromProject(
  { table }: Pick<Stores, 'table'>,
  projectId: number,
  limit: number,
  after?: string,
): Promise<PageOf<ProposedBranch>> {
  const partition = mergeRequestSources(projectId);
  const { items, next } = await table.query({
    partition,
    prefix: mergeRequestSourcePrefix(),
    limit,
    ...(after === undefined ? {} : { startKey: { pk: partition, sk: after } }),
  });
  const page = { items: items as unknown as ProposedBranch[] };
  return next === undefined ? page : { ...page, next: items.at(-1)!['sk'] as string };
}

/** Returns a page of the open merge requests to a project, the oldest first. @param after of the page before */
export async function openToProject(
  { table, mergeRequests }: Pick<Stores, 'table' | 'mergeRequests'>,
  projectId: number,
  limit: number,
  after?: string,
): Promise<PageOf<MergeRequestRecord | undefined>> {
  const prefix = mergeRequestKeys.listPrefix('opened');
  const { iids, next } = await numbers(table, projectId, { prefix, limit, after });
  const page = { items: await mergeRequests.getMany(iids.map((iid) => ({ projectId, iid }))) };
  return next === undefined ? page : { ...page, next };
}

/** Returns the numbers of open merge requests to a branch, the oldest, at most `limit`. */
export async function openTo(
  { table }: Pick<Stores, 'table'>,
  { projectId, branch }: BranchOfProject,
  limit: number,
): Promise<readonly number[]> {
  const prefix = mergeRequestKeys.byPrefix('target', branch, 'opened');
  return (await numbers(table, projectId, { prefix, limit })).iids;
}

async function numbers(
  table: Table,
  projectId: number,
  {
    prefix,
    limit,
    after,
  }: { readonly prefix: string; readonly limit: number; readonly after?: string | undefined },
): Promise<{ readonly iids: readonly number[]; readonly next: string | undefined }> {
  const partition = mergeRequestKeys.partition(projectId);
  const { items, next } = await table.query({
    ...{ partition, prefix, limit, only: ['pk', 'sk'] },
    ...(after === undefined ? {} : { startKey: { pk: partition, sk: after } }),
  });
  const keys = items.map(({ sk }) => sk as string);
  return { iids: keys.map(iidOf), next: next === undefined ? undefined : keys.at(-1) };
}

/**
 * Deletes up to `limit` rows that lead from branches of a deleted project. A worker closes what is open to others.
 * @param deleterId who deleted it
 * @returns whether any rows are left
 */
export async function removeOfSource(
  { table, outbox }: Pick<Stores, 'table' | 'outbox'>,
  projectId: number,
  deleterId: number | null,
  limit = 90,
): Promise<boolean> {
  const { items, next } = await table.query({ partition: mergeRequestSources(projectId), limit });
  const open = new Map(
    (items as unknown as MergeRequestAddress[]).map(({ projectId: to, iid }) => [
      `${to} ${iid}`,
      { projectId: to, iid },
    ]),
  );
  const mergeRequests = [...open.values()].filter((address) => address.projectId !== projectId);
  const deletions = items.map(({ pk, sk }) => ({ delete: { pk: pk as string, sk: sk as string } }));
  const body = { mergeRequests, actorId: deleterId };
  if (deletions.length > 0)
    await outbox.commit(
      deletions,
      mergeRequests.length === 0 ? [] : [message(MAINTENANCE, CLOSE_SOURCELESS_JOB, body)],
    );
  return next !== undefined;
}
