/** Repositories: nothing here knows of projects. */
import type { Outbox } from './outbox.ts';
import { RepositoryRefs } from './repository-refs.ts';
import type { Table } from './table.ts';

export class Repositories {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /** Nothing is read before the first call; use one per request. */
  open(repositoryId: string): RepositoryRefs {
    return new RepositoryRefs(this.#table, this.#outbox, repositoryId);
  }
}
