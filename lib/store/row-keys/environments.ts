import { digestOf, type Key, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const environmentsPartition = (projectId: number): string => `ENVIRONMENTS#${padded(projectId)}`;

export const ENVIRONMENT_PREFIX = 'ID#';

/** An environment; in the order of ids. */
export const environmentKey = (projectId: number, id: number): Key => ({
  pk: environmentsPartition(projectId),
  sk: `${ENVIRONMENT_PREFIX}${padded(id)}`,
});

/** Leads to the environment of a name. */
export const environmentNameKey = (projectId: number, name: string): Key => ({
  pk: environmentsPartition(projectId),
  sk: `NAME#${wholeOrDigest(name)}`,
});

/** How many environments there are. */
export const environmentCountKey = (projectId: number): Key => ({
  pk: environmentsPartition(projectId),
  sk: 'COUNT',
});

export const deploymentsPartition = (projectId: number): string => `DEPLOYMENTS#${padded(projectId)}`;

/** The orders of a project's deployments: by id, by the time of their last change, by the name of their ref. */
export type DeploymentOrder = 'ID' | 'UPDATED' | 'REF';

export const deploymentKey = (projectId: number, id: number): Key => ({
  pk: deploymentsPartition(projectId),
  sk: `ID#${padded(id)}`,
});

/** The place of a deployment in an order. @param value time, or name */
export const deploymentPlaceKey = (
  projectId: number,
  order: Exclude<DeploymentOrder, 'ID'>,
  value: string,
  id: number,
): Key => ({
  pk: deploymentsPartition(projectId),
  sk: `${order}#${value.length > 900 ? digestOf(value) : value}#${padded(id)}`,
});

export const deploymentOfPrefix = (environmentId: number): string => `ENVIRONMENT#${padded(environmentId)}#`;

/** The deployments of an environment, in the order of ids. */
export const deploymentOfKey = (projectId: number, environmentId: number, id: number): Key => ({
  pk: deploymentsPartition(projectId),
  sk: `${deploymentOfPrefix(environmentId)}${padded(id)}`,
});

/** The last number given, and how many deployments there are. */
export const deploymentCountKey = (projectId: number): Key => ({
  pk: deploymentsPartition(projectId),
  sk: 'COUNT',
});

const of = ['project'] as const;

export const rowKinds = [
  { name: 'environment', partitions: ['ENVIRONMENTS#'], keys: { environmentKey }, of },
  { name: 'environment-name', partitions: ['ENVIRONMENTS#'], keys: { environmentNameKey }, of },
  { name: 'environment-count', partitions: ['ENVIRONMENTS#'], keys: { environmentCountKey }, of },
  { name: 'deployment', partitions: ['DEPLOYMENTS#'], keys: { deploymentKey }, of },
  {
    name: 'deployment-in-list',
    partitions: ['DEPLOYMENTS#'],
    keys: { deploymentPlaceKey, deploymentOfKey },
    of,
  },
  { name: 'deployment-count', partitions: ['DEPLOYMENTS#'], keys: { deploymentCountKey }, of },
] as const satisfies readonly RowKind[];
