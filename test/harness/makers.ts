import type { SearchKind } from '../../lib/records/search.ts';
import { Groups } from '../../lib/store/groups/groups.ts';
import { Members } from '../../lib/store/members/members.ts';
import { Outbox } from '../../lib/store/outbox/outbox.ts';
import { Projects } from '../../lib/store/projects/projects.ts';
import { Search } from '../../lib/store/search/search.ts';
import { Stars } from '../../lib/store/stars/stars.ts';
import { Counters } from '../../lib/store/table/counters.ts';
import type { Table } from '../../lib/store/table/table.ts';
import { Names } from '../../lib/store/table/unique-names.ts';
import { Users } from '../../lib/store/users/users.ts';

/** What makes people, groups and projects, over a table of the caller's. */
export interface Makers {
  readonly users: Users;
  readonly groups: Groups;
  readonly projects: Projects;
  readonly members: Members;
  readonly stars: Stars;
  /** What the worker does of each that is made. */
  index(kind: SearchKind, id: number, texts: readonly string[]): Promise<void>;
}

export function makersOf(table: Table): Makers {
  const counters = new Counters(table);
  const names = new Names(table);
  // Nothing is sent.
  const outbox = new Outbox(table);
  const search = new Search(table);
  const members = new Members(table);
  return {
    users: new Users(table, names, counters, outbox, search),
    groups: new Groups(table, names, counters, outbox),
    projects: new Projects(table, names, counters, outbox, search, members),
    members,
    stars: new Stars(table),
    index: (kind, id, texts) => search.index(kind, id, async () => texts),
  };
}
