/** A store on the embedded DynamoDB, in memory, that counts its operations. The SDK clients are the real ones. */
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type EmbeddedDynamo, type OperationRecord, openDynamo } from '@lemnos/embedded-aws/dynamodb';
import type { Actor } from '../../../lib/domain/actor.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import type { Visibility } from '../../../lib/records/visibility.ts';
import { makeClients } from '../../../lib/store/clients.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';
import type { NewProject } from '../../../lib/store/projects/projects.ts';
import { createStore, type Store } from '../../../lib/store/store.ts';
import { tableDefinition } from '../../../lib/store/table/schema.ts';
import type { NewUser } from '../../../lib/store/users/users.ts';

export const config = {
  region: 'local',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test-secret-of-nothing' },
} as const;

export interface TestStore {
  readonly store: Store;
  /** The same, but with few retries. */
  readonly impatient: Store;
  readonly dynamo: EmbeddedDynamo;
  readonly client: DynamoDBClient;
  /** Requests since the last call of {@link TestStore.reset}. */
  readonly operations: OperationRecord[];
  reset(): void;
  /** The same data as another process sees it, with nothing in memory. */
  another(): Store;
  close(): Promise<void>;
}

export async function openTestStore(): Promise<TestStore> {
  const dynamo = await openDynamo();
  const clients = makeClients({
    dynamodb: { ...config, endpoint: 'http://dynamodb.local', requestHandler: dynamo.requestHandler },
    s3: config,
    sqs: config,
  });
  const environment = readEnvironment({ TABLE_NAME: 'test' });
  await clients.dynamodb.send(new CreateTableCommand(tableDefinition('test')));
  const operations: OperationRecord[] = [];
  dynamo.onOperation = (record) => void operations.push(record);
  return {
    store: createStore(environment, clients),
    impatient: createStore(environment, clients, { attempts: 4, base: 1, cap: 3 }),
    dynamo,
    client: clients.dynamodb,
    operations,
    another: () => createStore(environment, clients),
    reset: () => void operations.splice(0),
    close: () => dynamo.close(),
  };
}

/** A new user as the domain passes it to the store. */
export function newUser(username: string, change: Partial<NewUser> = {}): NewUser {
  return {
    username,
    name: `Name of ${username}`,
    email: `${username}@example.org`,
    state: 'active',
    admin: false,
    external: false,
    privateProfile: false,
    canCreateGroup: true,
    projectsLimit: 100_000,
    confirmedAt: null,
    lastActivityOn: null,
    passwordHash: null,
    profile: {},
    ...change,
  };
}

export function newProject(
  owner: UserRecord,
  path: string,
  visibility: Visibility = 'private',
  change: Partial<NewProject> = {},
): NewProject {
  return {
    name: path,
    path,
    namespaceId: owner.namespaceId,
    namespacePath: owner.username,
    namespaceName: owner.name,
    namespaceKind: 'user',
    ownerId: owner.id,
    creatorId: owner.id,
    ancestorIds: [],
    visibility,
    description: null,
    archived: false,
    defaultBranch: null,
    topics: [],
    settings: {},
    ...change,
  };
}

export function createProject(
  store: Store,
  owner: UserRecord,
  path: string,
  visibility: Visibility = 'private',
  change: Partial<NewProject> = {},
): Promise<ProjectRecord> {
  return store.projects.create(newProject(owner, path, visibility, change), { headBranch: 'main', owner });
}

/** Items read and requests made by `run`. */
export async function measured<T>(
  test: TestStore,
  run: () => Promise<T>,
): Promise<{ value: T; items: number; requests: number; units: number }> {
  test.reset();
  const value = await run();
  const sum = (of: (record: OperationRecord) => number) => test.operations.reduce((n, r) => n + of(r), 0);
  return {
    value,
    items: sum((r) => r.itemsRead),
    requests: test.operations.length,
    units: sum((r) => r.readUnits),
  };
}

/** An actor with a token that has all scopes. */
export function signedInAs(user: UserRecord): Extract<Actor, { kind: 'user' }> {
  const token = {
    id: 1,
    userId: user.id,
    name: '',
    scopes: ['api'] as const,
    createdAt: '',
    expiresAt: null,
    lastUsedAt: null,
    revoked: false,
    hash: '',
  };
  return { kind: 'user', user, token, scopes: new Set(token.scopes) };
}
