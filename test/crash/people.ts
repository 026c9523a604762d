import { call, done } from './client.ts';
import { type ExpectedState, Fact } from './expected-state.ts';
import { ROOT_TOKEN } from './host.ts';

export interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

export interface Project {
  readonly id: number;
  readonly fullPath: string;
}

/** A user with a token of all that the suite does. */
export async function person(url: string, username: string, expectedState: ExpectedState): Promise<Person> {
  const email = `${username}@example.com`;
  const user = done(
    await call(url, ROOT_TOKEN, 'POST', '/users', {
      username,
      name: username,
      email,
      force_random_password: true,
      skip_confirmation: true,
    }),
  );
  expectedState.users.set(user.id, { username, email });
  const made = done(
    await call(url, ROOT_TOKEN, 'POST', `/users/${user.id}/personal_access_tokens`, {
      name: 'crash',
      scopes: ['api', 'read_repository', 'write_repository'],
    }),
  );
  expectedState.tokens.set(made.token, { id: made.id, userId: user.id });
  return { id: user.id, username, token: made.token };
}

async function project(
  url: string,
  owner: Person,
  path: string,
  expectedState: ExpectedState,
): Promise<Project> {
  const made = done(await call(url, owner.token, 'POST', '/projects', { name: path, path }));
  const fullPath = `${owner.username}/${path}`;
  expectedState.projects.set(fullPath, { id: made.id, present: new Fact(true) });
  return { id: made.id, fullPath };
}

/** With a first commit on `main`. */
export async function startedProject(
  url: string,
  owner: Person,
  path: string,
  expectedState: ExpectedState,
): Promise<Project> {
  const made = await project(url, owner, path, expectedState);
  const commit = done(
    await call(url, owner.token, 'POST', `/projects/${made.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'First',
      actions: [{ action: 'create', file_path: 'first.txt', content: 'first\n' }],
    }),
  );
  expectedState.committed(made.id, 'main', commit.id, 'first.txt');
  return made;
}
