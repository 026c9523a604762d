import { setTimeout as sleep } from 'node:timers/promises';
import { call, commitFile, done, type Outcome } from './client.ts';
import { type ExpectedState, type Fact, GONE } from './expected-state.ts';
import { type Host, ROOT_TOKEN } from './host.ts';
import type { Fixtures } from './writers.ts';

/** One piece of work under a name of its own. */
export type Step = (name: string) => Promise<Outcome<unknown>>;

/** A group in so many stays. */
const KEPT = 3;

/** Of comments, so many that the limit of 300 a minute is not met. */
const COMMENT_PAUSE_MS = 200;
/** Of settings, whose endpoints take 60 calls a minute. */
const SETTING_PAUSE_MS = 1100;

/**
 * Makes a group with a group and a project in it, renames both, moves them about and deletes most of it. What moves along
 * is waited for before the next change: a second one is refused until then.
 *
 * @param counted hears of each change that was made
 */
export function grouping(
  host: Host,
  { ada }: Fixtures,
  expectedState: ExpectedState,
  counted: (outcome: Outcome<unknown>) => void,
): Step {
  let home: number | undefined;
  let count = 0;
  const { token } = ada;
  const make = async (kind: 'group' | 'project', path: string, parent?: number) => {
    const id = await making(host, token, expectedState, kind, path, parent);
    counted({ kind: 'done', value: undefined });
    return id;
  };
  const change = async (key: string, to: string, method: string, path: string, json?: object) => {
    await changing(expectedState, key, to, () => call(host.url, token, method, path, json));
    counted({ kind: 'done', value: undefined });
  };
  const remove = (id: number) => change(`group ${id}`, GONE, 'DELETE', `/groups/${id}`);

  return steps(async (name) => {
    const outer = await make('group', `g-${name}`);
    const inner = await make('group', `i-${name}`, outer);
    const project = await make('project', `p-${name}`, inner);
    const first = await commitFile(host.url, token, { id: project }, 'main', 'first.txt');
    if (first.kind === 'done') expectedState.committed(project, 'main', first.value, 'first.txt');
    const arrived = (fullPath: string) => moved(host, token, project, fullPath);

    await change(`group ${outer}`, `0/r-${name}`, 'PUT', `/groups/${outer}`, { path: `r-${name}` });
    await arrived(`r-${name}/i-${name}/p-${name}`);
    await change(`project ${project}`, `${inner}/q-${name}`, 'PUT', `/projects/${project}`, {
      path: `q-${name}`,
    });
    await change(`project ${project}`, `${outer}/q-${name}`, 'PUT', `/projects/${project}/transfer`, {
      namespace: String(outer),
    });
    await arrived(`r-${name}/q-${name}`);
    await change(`group ${inner}`, `0/i-${name}`, 'POST', `/groups/${inner}/transfer`, {});
    await change(`project ${project}`, `${inner}/q-${name}`, 'PUT', `/projects/${project}/transfer`, {
      namespace: String(inner),
    });
    await arrived(`i-${name}/q-${name}`);
    if (home !== undefined) {
      await change(`group ${inner}`, `${home}/i-${name}`, 'POST', `/groups/${inner}/transfer`, {
        group_id: home,
      });
    }
    const turn = count++ % KEPT;
    if (turn === 0) home = outer;
    // The inner group takes the project with it.
    else await remove(turn === 1 ? inner : outer);
  });
}

/** Waits until a project has the path that a move above it gives it. */
async function moved(host: Host, token: string, id: number, fullPath: string): Promise<void> {
  for (let is = ''; is !== fullPath; await sleep(20)) {
    is = done(await call(host.url, token, 'GET', `/projects/${id}`)).path_with_namespace;
  }
}

/** Gives and takes tokens of a user, half of which stay. */
export function tokening(host: Host, { ada }: Fixtures, expectedState: ExpectedState): Step {
  let count = 0;
  return steps(async (name) => {
    const tokenName = `token-${name}`;
    expectedState.ask('token', tokenName);
    const made = done(
      await call(host.url, ROOT_TOKEN, 'POST', `/users/${ada.id}/personal_access_tokens`, {
        name: tokenName,
        scopes: ['api'],
      }),
    );
    expectedState.state(`token ${made.id}`, 'active');
    if (count++ % 2 === 0) return;
    const revoke = () => call(host.url, made.token, 'DELETE', `/personal_access_tokens/${made.id}`);
    await changing(expectedState, `token ${made.id}`, 'revoked', revoke);
  });
}

/** Changes a setting of the instance and one of a project. */
export function configuring(host: Host, { ada, shared }: Fixtures, expectedState: ExpectedState): Step {
  return steps(async (name) => {
    const text = `as of ${name}`;
    await changing(expectedState, 'setting after_sign_up_text', text, () =>
      call(host.url, ROOT_TOKEN, 'PUT', '/application/settings', { after_sign_up_text: text }),
    );
    await changing(expectedState, `description ${shared.id}`, text, () =>
      call(host.url, ada.token, 'PUT', `/projects/${shared.id}`, { description: text }),
    );
    await sleep(SETTING_PAUSE_MS);
  });
}

/** Comments on one commit, which somebody wants to hear about by mail. */
export function commenting(
  host: Host,
  { ada, shared, talkedOf }: Fixtures,
  expectedState: ExpectedState,
): Step {
  return steps(async (name) => {
    const note = `comment-of-${name}`;
    expectedState.ask('comment', note);
    const path = `/projects/${shared.id}/repository/commits/${talkedOf}/comments`;
    done(await call(host.url, ada.token, 'POST', path, { note }));
    expectedState.comments.add(note);
    await sleep(COMMENT_PAUSE_MS);
  });
}

/** A new group or project, whose answer tells its id. */
async function making(
  host: Host,
  token: string,
  expectedState: ExpectedState,
  kind: 'group' | 'project',
  path: string,
  parent?: number,
): Promise<number> {
  expectedState.ask(kind, path);
  const inside = parent === undefined ? {} : { [kind === 'group' ? 'parent_id' : 'namespace_id']: parent };
  const made = done(await call(host.url, token, 'POST', `/${kind}s`, { name: path, path, ...inside }));
  expectedState.state(`${kind} ${made.id}`, `${parent ?? 0}/${path}`);
  return made.id;
}

/** @throws Error as `done()` does */
export const changing = (
  expectedState: ExpectedState,
  key: string,
  to: string,
  send: () => Promise<Outcome<unknown>>,
): Promise<void> => settling(expectedState.state(key), to, send);

/** @throws Error as `done()` does */
export async function settling(
  fact: Fact<string>,
  to: string,
  send: () => Promise<Outcome<unknown>>,
): Promise<void> {
  fact.attempt(to);
  const outcome = await send();
  fact.settle(to, outcome);
  done(outcome);
}

/** A step of several calls, which ends with the first that is not done. */
export const steps =
  (run: (name: string) => Promise<void>): Step =>
  async (name) => {
    try {
      await run(name);
      return { kind: 'done', value: undefined };
    } catch (error) {
      return outcomeOf(error as Error);
    }
  };

/** `done()` throws what it was told. */
export function outcomeOf({ message }: Error): Outcome<never> {
  return { kind: message.startsWith('refused') ? 'refused' : 'unclear', reason: message };
}
