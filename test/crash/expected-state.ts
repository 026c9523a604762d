import { ZERO_OID } from '../../lib/git/oid.ts';
import type { Outcome } from './client.ts';

/** A value that is certain once its write is answered; until then it may be the old one or the new one. */
export class Fact<T> {
  #possible: Set<T>;
  constructor(value: T) {
    this.#possible = new Set([value]);
  }
  get possible(): ReadonlySet<T> {
    return this.#possible;
  }
  /** Before the write is sent. */
  attempt(value: T): void {
    this.#possible.add(value);
  }
  /** The service confirmed the write. */
  acknowledge(value: T): void {
    this.#possible = new Set([value]);
  }
  /** The service refused the write. */
  refuse(value: T): void {
    this.#possible.delete(value);
  }
  settle(value: T, { kind }: Outcome<unknown>): void {
    if (kind === 'done') this.acknowledge(value);
    else if (kind === 'refused') this.refuse(value);
  }
}

/** What a file's text is while there is no such file. */
export const NO_FILE = '';

/** What a group or project is at when it is deleted. */
export const GONE = 'gone';

/** Kinds of what is asked for under a name that is used once. */
export type Asked = 'group' | 'project' | 'token' | 'comment';

/** What must be stored, by what the clients sent and what the service acknowledged. Kept by the clients. */
export class ExpectedState {
  readonly users = new Map<number, { username: string; email: string }>();
  /** By the token's text. */
  readonly tokens = new Map<string, { id: number; userId: number }>();
  /** By path. */
  readonly projects = new Map<string, { id: number; present: Fact<boolean> }>();
  /** Access levels by `<project id> <user id>`; 0: no member. */
  readonly members = new Map<string, Fact<number>>();
  /** Branch by commit, by project id. */
  readonly commits = new Map<number, Map<string, string>>();
  /** Paths that were added on a branch and never taken away: `<branch>:<path>`, by project id. */
  readonly files = new Map<number, Set<string>>();
  /** Object ids by full name of a ref that has one writer, by project id; ZERO_OID: no such ref. */
  readonly refs = new Map<number, Map<string, Fact<string>>>();
  /** Refs that were written in one transaction each time, by project id: they have one value. */
  readonly together = new Map<number, (readonly string[])[]>();

  /** Texts of files of wikis and snippets, by path, by the id of the repository: each has one writer. */
  readonly texts = new Map<string, Map<string, Fact<string>>>();

  /** Of single subjects, by `<kind> <id>`: where a group or project is, what a token or a setting is (`check-states.ts`). */
  readonly states = new Map<string, Fact<string>>();
  /** Names that were asked for, whatever the answer. */
  readonly asked = new Map<Asked, Set<string>>();
  /** Notes on issues that were answered, by their text; their issues are in {@link states}, by their titles. */
  readonly remarks = new Set<string>();
  /** Comments that were answered, by their text. */
  readonly comments = new Set<string>();
  /** `<branch> <commit>` that a push or commit of this project was acknowledged for, by project id: each has an event. */
  readonly pushed = new Map<number, Set<string>>();

  /** @param first what the subject is at, if this is its first mention */
  state(key: string, first = ''): Fact<string> {
    return at(this.states, key, () => new Fact(first));
  }

  ask(kind: Asked, name: string): void {
    at(this.asked, kind, () => new Set()).add(name);
  }

  member(projectId: number, userId: number): Fact<number> {
    return at(this.members, `${projectId} ${userId}`, () => new Fact(0));
  }

  ref(projectId: number, name: string): Fact<string> {
    return at(
      at(this.refs, projectId, () => new Map()),
      name,
      () => new Fact<string>(ZERO_OID),
    );
  }

  text(repositoryId: string, path: string): Fact<string> {
    return at(
      at(this.texts, repositoryId, () => new Map()),
      path,
      () => new Fact<string>(NO_FILE),
    );
  }

  committed(projectId: number, branch: string, commit: string, path?: string): void {
    at(this.commits, projectId, () => new Map()).set(commit, branch);
    if (path === undefined) return;
    at(this.files, projectId, () => new Set()).add(`${branch}:${path}`);
    at(this.pushed, projectId, () => new Set()).add(`${branch} ${commit}`);
  }
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
