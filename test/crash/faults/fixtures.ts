import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { areasOf, type WorkerArea } from '../../../functions/areas.ts';
import { AUDITED_KINDS } from '../../../lib/store/audit-events/audit-events.ts';
import { awsClients } from '../../../lib/store/clients.ts';
import type { Store } from '../../../lib/store/store.ts';
import { type HttpBackend, startHttpBackend } from '../../bench/http-backend.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import type { Answer, CallOptions, Service } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';
import type { Told } from './driver.ts';

export interface Someone {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

/** A project with two commits and a tag on `main`, and a branch `side` with one more, that changes another file. */
export interface Ground {
  readonly id: number;
  readonly repositoryId: string;
  readonly owner: Someone;
  readonly fullPath: string;
  /** Commits of `main`, oldest first. */
  readonly main: readonly [string, string];
  readonly side: string;
}

/** How many operations share a project: creating one takes time, and old ones are slow to check. */
const SHARED_BY = 8;

/** Users, projects and queues that the operations of the tables share. */
export class Fixtures {
  readonly service: Service;
  readonly git = new GitCli();
  readonly store: Store = storeOf();
  #counter = 0;
  #ground: { readonly ground: Ground; used: number } | undefined;
  readonly #guests: Someone[] = [];
  #owner: Someone | undefined;
  #foreign: HttpBackend | undefined;
  readonly #audited = { at: new Date(0), ids: new Set<number>() };

  constructor(service: Service) {
    this.service = service;
  }

  /** Returns an unused name. */
  fresh(prefix: string): string {
    return `${prefix}-${++this.#counter}`;
  }

  async owner(): Promise<Someone> {
    this.#owner ??= await this.service.user('ada');
    return this.#owner;
  }

  /** @throws Error unless the answer is a success */
  async done(method: string, path: string, options: CallOptions): Promise<Answer['body']> {
    const { status, body } = await this.service.call(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** A user without access to the {@link ground} returned last. */
  async guest(): Promise<Someone> {
    const place = this.#ground?.used ?? 0;
    this.#guests[place] ??= await this.service.user(this.fresh('guest'));
    return this.#guests[place];
  }

  /** A project that a few operations share and do not change. */
  async ground(): Promise<Ground> {
    if (this.#ground === undefined || ++this.#ground.used > SHARED_BY)
      this.#ground = { ground: await this.ownGround(), used: 1 };
    return this.#ground.ground;
  }

  async ownGround(): Promise<Ground> {
    const owner = await this.owner();
    const { token } = owner;
    const name = this.fresh('ground');
    const project = await this.done('POST', '/projects', { token, json: { name } });
    const commit = async (branch: string, file_path: string, content: string, start_branch?: string) => {
      const json = {
        branch,
        commit_message: `Add ${file_path}`,
        ...(start_branch === undefined ? {} : { start_branch }),
        actions: [{ action: 'create', file_path, content }],
      };
      const path = `/projects/${project.id}/repository/commits`;
      return (await this.done('POST', path, { token, json })).id as string;
    };
    const first = await commit('main', 'first.txt', 'first\n');
    const second = await commit('main', 'folder/second.txt', 'one\ntwo\n');
    const side = await commit('side', 'side.txt', 'side\n', 'main');
    await this.done('POST', `/projects/${project.id}/repository/tags`, {
      token,
      json: { tag_name: 'v1', ref: 'main' },
    });
    const { repositoryId } = (await this.store.projects.get(project.id))!;
    return {
      id: project.id,
      repositoryId,
      owner,
      fullPath: project.path_with_namespace,
      main: [first, second],
      side,
    };
  }

  remote({ fullPath, owner }: Ground): string {
    return withToken(this.service.url, fullPath, owner.token);
  }

  /** What the workers did last. */
  readonly #lately: string[] = [];

  /** Runs the workers until the outbox and the queues are empty. @returns the time (ms) up to which work is done */
  async settle(): Promise<number> {
    this.#lately.length = 0;
    for (let rounds = 0; ; rounds++) {
      if (rounds > 1000) throw new Error(`the queues are never empty: ${this.#lately.slice(-5).join('; ')}`);
      const at = Date.now();
      for (let more = true; more; )
        ({ more } = (await this.service.host.invoke('outbox-sweep', { olderThan: 0 })) as { more: boolean });
      const worked = await Promise.all(areasOf('worker').map((area) => this.#workOff(area)));
      if (!worked.some(Boolean)) return at;
    }
  }

  /** @returns whether the queue held any message */
  async #workOff({ name, queue }: WorkerArea): Promise<boolean> {
    const QueueUrl = queueUrl(queue);
    const { sqs } = awsClients();
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 1 }),
    );
    this.#lately.push(...Messages.map(({ Body }) => `${name} ${Body?.slice(0, 200)}`));
    this.#lately.splice(0, this.#lately.length - 5);
    const failed = new Set(Messages.length === 0 ? [] : await this.work(name, Messages));
    for (const { MessageId, ReceiptHandle } of Messages) {
      if (!failed.has(MessageId!)) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    // A failed message is redelivered when its visibility timeout ends.
    if (failed.size > 0) await sleep(1000);
    return Messages.length > 0;
  }

  /** Invokes a worker with these messages. @returns the ids of those that failed */
  async work(name: string, messages: readonly Pick<Message, 'MessageId' | 'Body'>[]): Promise<string[]> {
    const Records = messages.map(({ MessageId, Body }) => ({
      messageId: MessageId,
      body: Body,
      attributes: { ApproximateReceiveCount: '1' },
    }));
    const answer = await this.service.host.invoke(name, { Records });
    const { batchItemFailures } = answer as { batchItemFailures: { itemIdentifier: string }[] };
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  }

  /** Invokes a worker with one message, which is retried when it fails. */
  async attempt(name: string, message: Pick<Message, 'MessageId' | 'Body'>): Promise<Told> {
    const failed = await this.work(name, [message]);
    return failed.length === 0 ? { kind: 'done' } : { kind: 'unavailable', words: 'the message comes again' };
  }

  /** Removes messages from a worker's queue. @throws Error unless it holds exactly this many */
  async received(worker: string, count: number): Promise<readonly Message[]> {
    const { queue } = areasOf('worker').find(({ name }) => name === worker)!;
    const { sqs } = awsClients();
    const QueueUrl = queueUrl(queue);
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    for (const { ReceiptHandle } of Messages)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    if (Messages.length !== count) throw new Error(`${Messages.length} messages of ${queue}`);
    return Messages;
  }

  /** URL, with a password it does not need, of a repository with two branches on another server. */
  async foreign(): Promise<string> {
    if (this.#foreign === undefined) {
      const served = this.git.path('served');
      const bare = join(served, 'foreign.git');
      const work = this.git.path('foreign');
      mkdirSync(served);
      await this.git.ok(this.git.home, 'init', '--quiet', '--bare', '-b', 'main', bare);
      await this.git.ok(this.git.home, 'init', '--quiet', '-b', 'main', work);
      for (const name of ['one', 'two'])
        await this.git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', name);
      await this.git.ok(work, 'push', '--quiet', bare, 'main', 'main~1:refs/heads/older');
      this.#foreign = await startHttpBackend(served);
    }
    return `${this.#foreign.url.replace('//', '//ada:password@')}/foreign.git`;
  }

  /** Counts the audit events since the last call, at most a page of them. */
  async newlyAudited(): Promise<number> {
    const { at: from } = this.#audited;
    // Two events of one moment may become visible one after the other.
    this.#audited.at = new Date(Date.now() - 1000);
    const page = { page: 1, perPage: 100, from };
    const { items } = await this.store.auditEvents.ofKinds(AUDITED_KINDS, page);
    const fresh = items.filter(({ id }) => !this.#audited.ids.has(id));
    this.#audited.ids = new Set(items.map(({ id }) => id));
    return fresh.length;
  }

  async end(): Promise<void> {
    await this.#foreign?.stop();
    this.git[Symbol.dispose]();
  }
}

const queueUrl = (queue: string): string =>
  process.env[`QUEUE_URL_${queue.toUpperCase().replaceAll('-', '_')}`]!;
