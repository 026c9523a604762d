import { digestOf, type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const pipelinesPartition = (projectId: number): string => `PIPELINES#${padded(projectId)}`;

/** The kinds of rows of a commit: its pipelines, all of its statuses, and the latest status of each name. */
export type CommitRow = 'PIPELINE' | 'STATUS' | 'LATEST';

export const commitRowPrefix = (sha: string, row: CommitRow): string => `COMMIT#${sha}#${row}#`;

export const commitRowKey = (projectId: number, sha: string, row: CommitRow, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: commitRowPrefix(sha, row) + padded(id),
});

/** Points to the newest pipeline of a commit and ref. */
export const pipelineOfRefKey = (projectId: number, sha: string, ref: string): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `COMMIT#${sha}#REF#${digestOf(ref)}`,
});

/** Points to the latest status of a name in a pipeline. */
export const statusOfNameKey = (projectId: number, sha: string, pipelineId: number, name: string): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `COMMIT#${sha}#NAME#${padded(pipelineId)}#${digestOf(name)}`,
});

/** Maps the id of a pipeline to its commit; lists a project's pipelines by id. */
export const pipelineIdKey = (projectId: number, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `ID#${padded(id)}`,
});

/** Pipelines of a ref, in the order of their ids. */
export const refPipelinePrefix = (ref: string): string => `REF#${digestOf(ref)}#`;

export const refPipelineKey = (projectId: number, ref: string, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: refPipelinePrefix(ref) + padded(id),
});

/** Orders of a project's pipelines beside that of ids. */
export type PipelineOrder = 'STATUS' | 'UPDATED' | 'NAME' | 'USER';

/** Pipelines with a value, in the order of ids; without one, all in the order of their values. */
export const pipelinePlacePrefix = (order: PipelineOrder, value?: string): string =>
  value === undefined ? `BY_${order}#` : `BY_${order}#${value.length > 300 ? digestOf(value) : value}#`;

/** The place of a pipeline in an order. */
export const pipelinePlaceKey = (
  projectId: number,
  order: PipelineOrder,
  value: string,
  id: number,
): Key => ({
  pk: pipelinesPartition(projectId),
  sk: pipelinePlacePrefix(order, value) + padded(id),
});

/** Counter of the pipelines' numbers within the project. */
export const pipelineIidKey = (projectId: number): Key => ({ pk: pipelinesPartition(projectId), sk: 'IID' });

export const rowKinds = [
  { name: 'pipeline', partitions: ['PIPELINES#'], keys: { commitRowKey }, of: ['project', 'user'] },
  { name: 'status', partitions: ['PIPELINES#'], keys: { commitRowKey }, of: ['project', 'user'] },
  { name: 'latest-status', partitions: ['PIPELINES#'], keys: { commitRowKey }, of: ['project'] },
  { name: 'pipeline-of-ref', partitions: ['PIPELINES#'], keys: { pipelineOfRefKey }, of: ['project'] },
  { name: 'status-of-name', partitions: ['PIPELINES#'], keys: { statusOfNameKey }, of: ['project'] },
  { name: 'pipeline-id', partitions: ['PIPELINES#'], keys: { pipelineIdKey }, of: ['project'] },
  { name: 'ref-pipeline', partitions: ['PIPELINES#'], keys: { refPipelineKey }, of: ['project'] },
  { name: 'pipeline-in-list', partitions: ['PIPELINES#'], keys: { pipelinePlaceKey }, of: ['project'] },
  { name: 'pipeline-iid', partitions: ['PIPELINES#'], keys: { pipelineIidKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
