/** Repositories in the embedded table and bucket, in memory, with commits, jobs, and faults of both services. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { type EmbeddedDynamo, openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { type EmbeddedS3, openS3 } from '@lemnos/embedded-aws/s3';
import type { Deps } from '../../../lib/domain/deps.ts';
import { cachedSettings } from '../../../lib/domain/settings/current.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { commitChanges } from '../../../lib/git/commit-changes.ts';
import { HistoryCache } from '../../../lib/git/history/known.ts';
import { type Collected, collect } from '../../../lib/git/maintenance/collect.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { PackCache } from '../../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../../lib/git/pack/store.ts';
import { enumerate } from '../../../lib/git/reachable.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { GitRepository } from '../../../lib/git/repository.ts';
import { makeClients } from '../../../lib/store/clients.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';
import { Outbox, parseMessage } from '../../../lib/store/outbox/outbox.ts';
import { MaintainedGitObjects } from '../../../lib/store/repository/maintained-objects.ts';
import { GitObjects } from '../../../lib/store/repository/pack-objects.ts';
import { newRepository } from '../../../lib/store/repository/state.ts';
import { createStore, type Store } from '../../../lib/store/store.ts';
import { tableDefinition } from '../../../lib/store/table/schema.ts';
import { config } from '../table/store-fixture.ts';

export const HOUR = 3600_000;
export const DAY = 24 * HOUR;

interface Message {
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Yard extends AsyncDisposable {
  readonly store: Store;
  readonly dynamo: EmbeddedDynamo;
  readonly s3: EmbeddedS3;
  deps(now?: Date): Deps;
  repository(): Promise<Ground>;
  /** Messages that are due by then, removed from the outbox. */
  sentBy(now?: Date): Promise<Message[]>;
}

/** @param attempts of the store, for each call */
export async function openYard(attempts = 4): Promise<Yard> {
  const [dynamo, s3] = await Promise.all([openDynamo(), openS3()]);
  const clients = makeClients({
    dynamodb: { ...config, endpoint: 'http://dynamodb.local', requestHandler: dynamo.requestHandler },
    s3: {
      region: 'local',
      credentials: s3.credentials,
      endpoint: 'http://s3.local/_s3',
      forcePathStyle: true,
      maxAttempts: 1,
      requestHandler: s3.requestHandler,
    },
    sqs: config,
  });
  const environment = readEnvironment({ TABLE_NAME: 'test' });
  await clients.dynamodb.send(new CreateTableCommand(tableDefinition('test')));
  await clients.s3.send(new CreateBucketCommand({ Bucket: environment.objectsBucket }));
  const store = createStore(environment, clients, { attempts, base: 1, cap: 3 });
  let repositories = 0;
  const yard: Yard = {
    store,
    dynamo,
    s3,
    deps: (now = new Date()) => ({
      store,
      packs: new PackCache(),
      histories: new HistoryCache(),
      settings: cachedSettings(store.settings, environment),
      environment,
      now: () => now,
    }),
    async repository() {
      const id = `yard-${++repositories}`;
      await store.table.transact(newRepository({ repositoryId: id }, 'main'));
      return new Ground(yard, id);
    },
    async sentBy(now = new Date()) {
      const sent: Message[] = [];
      const outbox = new Outbox(store.table, {
        send: async (_queue, messages) => {
          for (const { body } of messages) {
            const { type, body: content } = parseMessage(body)!;
            sent.push({ type, body: content });
          }
        },
      });
      await outbox.sweep(now, 0);
      return sent;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([dynamo.close(), s3.close()]);
    },
  };
  return yard;
}

const person = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };

let forks = 0;

/** One repository. */
export class Ground {
  readonly id: string;
  readonly #yard: Yard;
  readonly #cache = new PackCache();
  readonly #networkId: string;
  #files = 0;
  constructor(yard: Yard, id: string, networkId = id) {
    this.#yard = yard;
    this.id = id;
    this.#networkId = networkId;
    // File names that earlier repositories of the network have not used.
    if (networkId !== id) this.#files = 10_000 * ++forks;
  }

  /** Opens it as a request does, with nothing read yet. */
  open(cache = new PackCache()) {
    const { store } = this.#yard;
    const refs = store.repositories.open(this.id);
    const objects = new GitObjects(store.blobs, refs, this.id, this.#networkId);
    return { refs, objects, store: new PackStore(objects, { cache }) };
  }

  get git(): GitRepository {
    return new GitRepository(this.open());
  }

  /** One commit of one new file. */
  async commit(
    branch = 'main',
    options: {
      readonly ports?: ReturnType<Ground['open']>;
      readonly reset?: Oid;
      readonly content?: string;
    } = {},
  ) {
    const ports = options.ports ?? this.open(this.#cache);
    const name = `refs/heads/${branch}` as RefName;
    const tip = (await ports.refs.get([name])).get(name)?.oid;
    const parent = options.reset ?? tip;
    const file = ++this.#files;
    return commitChanges(ports, {
      branch: name,
      expected: tip ?? ZERO_OID,
      ...(parent === undefined ? {} : { parent }),
      force: options.reset !== undefined,
      actions: [
        {
          action: 'create',
          path: `d${file % 7}/file-${file}.txt`,
          content: Buffer.from(options.content ?? `content ${file}\n`),
        },
      ],
      author: person,
      committer: person,
      message: `commit ${file}`,
    });
  }

  async commits(count: number, branch = 'main'): Promise<Oid> {
    for (let i = 1; i < count; i++) await this.commit(branch);
    return (await this.commit(branch)).commit;
  }

  /** Runs the job. */
  maintain(now = new Date(), body: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const job = { id: 'job', type: 'repository.maintain', body: { repositoryId: this.id, ...body } };
    return runJob(this.#yard.deps(now), job);
  }

  /**
   * Runs one collection, whether due or not.
   * @param between run after the epoch was raised, before anything is read; and right before the swap
   */
  async collect(
    now = new Date(),
    between: { readonly before?: () => Promise<unknown>; readonly swap?: () => Promise<unknown> } = {},
  ): Promise<Collected> {
    const { store } = this.#yard;
    const lease = (await store.leases.acquire(this.id, 900, now))!;
    const epoch = await store.repositories.raiseEpoch(this.id);
    await between.before?.();
    const objects = new MaintainedGitObjects(store, lease, now);
    const { commitPacks } = objects;
    let swaps = 0;
    objects.commitPacks = async (...packs) => {
      if (swaps++ === 0) await between.swap?.();
      await commitPacks.apply(objects, packs);
    };
    const outcome = await collect(objects, store.repositories.open(this.id), { epoch, now });
    await store.leases.release(lease);
    return outcome!;
  }

  async active() {
    return (await this.open().refs.catalogue()).filter(({ state }) => state === 'active');
  }

  async superseded() {
    return (await this.open().refs.catalogue()).filter(({ state }) => state === 'superseded');
  }

  async keys(): Promise<readonly string[]> {
    return (await this.#yard.store.blobs.list(`networks/${this.id}/`)).keys;
  }

  /** Expects all objects that refs reach to be in packs that are not garbage. */
  async staysReadable(): Promise<void> {
    const names = Buffer.from((await this.readAll()).join(''), 'hex');
    const lost = await this.open().store.missing(names, { garbage: false });
    if (lost.length > 0) throw new Error(`only garbage holds ${lost.join(' ')}`);
  }

  /** Reads everything that refs reach. @returns its ids, sorted */
  async readAll(ports = this.open()): Promise<string[]> {
    const { refs } = await ports.refs.all();
    const list = await enumerate(ports.store, { include: refs.map(({ oid }) => oid) });
    await ports.store.run((objects) => {
      for (const oid of list.oids()) objects.read(oid);
    });
    return [...list.oids()].sort();
  }
}
