/** Everything the domain reaches the world through, made once per process. */
import { awsClients, documentClient } from './clients.ts';
import { Counters } from './counters.ts';
import { readEnvironment, type StoreEnvironment } from './environment.ts';
import { Members } from './members.ts';
import { Names } from './names.ts';
import { type MessageSender, Outbox } from './outbox.ts';
import { Processed } from './processed.ts';
import { Projects } from './projects.ts';
import { Repositories } from './repositories.ts';
import { Search } from './search.ts';
import { Table } from './table.ts';
import { Tokens } from './tokens.ts';
import { Users } from './users.ts';

export interface Store {
  readonly environment: StoreEnvironment;
  readonly table: Table;
  readonly users: Users;
  readonly tokens: Tokens;
  readonly projects: Projects;
  readonly members: Members;
  readonly names: Names;
  readonly repositories: Repositories;
  readonly search: Search;
  readonly outbox: Outbox;
  readonly processed: Processed;
}

/** The part of the store that is the table. */
export function tableStore(table: Table, environment: StoreEnvironment, sender?: MessageSender): Store {
  const counters = new Counters(table);
  const names = new Names(table);
  const outbox = new Outbox(table, sender);
  const search = new Search(table);
  const members = new Members(table);
  return {
    environment,
    table,
    users: new Users(table, names, counters, outbox, search),
    tokens: new Tokens(table, counters),
    projects: new Projects(table, names, counters, outbox, search, members),
    members,
    names,
    repositories: new Repositories(table, outbox),
    search,
    outbox,
    processed: new Processed(table),
  };
}

/** @param sender how outbox messages reach their queues; without one they wait for the sweep */
export function createStore(
  environment: StoreEnvironment = readEnvironment(),
  sender?: MessageSender,
): Store {
  const table = new Table(documentClient(awsClients().dynamodb), environment.tableName);
  return tableStore(table, environment, sender);
}
