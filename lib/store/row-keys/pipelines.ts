import { digestOf, type Key, padded } from './key.ts';

export const pipelinesPartition = (projectId: number): string => `PIPELINES#${padded(projectId)}`;

/** The kinds of rows a commit has: its pipelines, all of its statuses, and those that no later one replaced. */
export type CommitRow = 'PIPELINE' | 'STATUS' | 'LATEST';

export const commitRowPrefix = (sha: string, row: CommitRow): string => `COMMIT#${sha}#${row}#`;

export const commitRowKey = (projectId: number, sha: string, row: CommitRow, id: number): Key => ({
  pk: pipelinesPartition(projectId),
  sk: commitRowPrefix(sha, row) + padded(id),
});

/** Leads to the newest pipeline of a commit and ref. */
export const pipelineOfRefKey = (projectId: number, sha: string, ref: string): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `COMMIT#${sha}#REF#${digestOf(ref)}`,
});

/** Leads to the status of a name that counts in a pipeline. */
export const statusOfNameKey = (projectId: number, sha: string, pipelineId: number, name: string): Key => ({
  pk: pipelinesPartition(projectId),
  sk: `COMMIT#${sha}#NAME#${padded(pipelineId)}#${digestOf(name)}`,
});

/** Leads from the id of a pipeline to its commit; in order of the ids it lists a project's pipelines. */
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

/** The last number within the project that a pipeline got. */
export const pipelineIidKey = (projectId: number): Key => ({ pk: pipelinesPartition(projectId), sk: 'IID' });
