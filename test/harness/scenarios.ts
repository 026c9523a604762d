import { expect, test } from 'vitest';
import type { Answer } from './service.ts';
import type { Who, World } from './world.ts';

/** What an answer must be. */
export interface Expected {
  readonly status: number;
  /** What the body must hold, as `toMatchObject` compares; a failure's is the usual one when left out. */
  readonly holds?: unknown;
}

type Body = Readonly<Record<string, unknown>> | readonly unknown[];
type Per<T> = T | ((world: World, who: Who) => T | Promise<T>);

/** One request, sent by several people. */
export interface Scenario {
  /** `GET /projects/{private}`: braces name an id of the world. */
  readonly request: Per<string>;
  readonly json?: Per<Body>;
  readonly form?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Status, or more, for each who is asked. */
  readonly as: Readonly<Partial<Record<Who, number | Expected>>>;
  /** What every successful body holds. */
  readonly holds?: Per<Body>;
  /** Texts that no answer to those who are refused may hold, headers included. */
  readonly hides?: readonly string[];
  /** Looked at after each answer. */
  readonly look?: (answer: Answer, world: World, who: Who) => unknown;
}

/** One test per scenario and person, so that a failure names both. */
export function scenarios(world: () => World, table: readonly Scenario[]): void {
  for (const scenario of table) {
    const shown = typeof scenario.request === 'string' ? scenario.request : scenario.request.name;
    for (const [who, expected] of Object.entries(scenario.as) as [Who, number | Expected][]) {
      const wanted = typeof expected === 'number' ? { status: expected } : expected;
      test(`${shown}, ${who}: ${wanted.status}`, () => run(world(), scenario, who, wanted));
    }
  }
}

async function run(world: World, scenario: Scenario, who: Who, expected: Expected): Promise<void> {
  const of = async <T>(value: Per<T>): Promise<T> =>
    typeof value === 'function' ? (value as (w: World, who: Who) => T)(world, who) : value;
  const [method, path] = withIds(await of(scenario.request), world).split(' ') as [string, string];
  const token = world.tokens[who];
  const answer = await world.service.call(method, path, {
    ...(token === undefined ? {} : { token }),
    ...(scenario.json === undefined ? {} : { json: await of(scenario.json) }),
    ...(scenario.form === undefined ? {} : { form: withIds(scenario.form, world) }),
    ...(scenario.headers === undefined ? {} : { headers: scenario.headers }),
  });
  const refused = expected.status >= 400;
  const usual = refused
    ? usualRefusal(who, expected.status, path)
    : scenario.holds && (await of(scenario.holds));
  const holds = 'holds' in expected ? expected.holds : usual;
  expect({ status: answer.status, body: answer.body }).toMatchObject({
    status: expected.status,
    ...(holds === undefined ? {} : { body: holds }),
  });
  if (refused) {
    const told = JSON.stringify([answer.body, [...answer.headers]]);
    for (const text of scenario.hides ?? []) expect(told).not.toContain(text);
  }
  await scenario.look?.(answer, world, who);
}

const withIds = (text: string, world: World) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = world.ids[name];
    if (id === undefined) throw new Error(`the world has no ${name}`);
    return String(id);
  });

/** The body of a refusal where a scenario names no other. */
function usualRefusal(who: Who, status: number, path: string): unknown {
  if (who === 'expired' || who === 'revoked') {
    const description =
      who === 'expired'
        ? 'Token is expired. You can either do re-authorization or token refresh.'
        : 'Token was revoked. You have to re-authorize from the user.';
    return { error: 'invalid_token', error_description: description };
  }
  if (who === 'blocked') return { message: '403 Forbidden - Your account has been blocked.' };
  if (status === 403 && /^(read|write)_/.test(who)) {
    return { error: 'insufficient_scope', scope: expect.stringMatching(/^api\b/) };
  }
  switch (status) {
    case 401:
      return { message: '401 Unauthorized' };
    case 403:
      return { message: '403 Forbidden' };
    case 404:
      return { message: `404 ${path.startsWith('/groups/') ? 'Group' : 'Project'} Not Found` };
    default:
      return undefined;
  }
}
