/** With what program and from where issues were created: a row beside each, which only administrators see. */

import type { IssueAddress } from '../../records/issues.ts';
import { issueAgentKey } from '../row-keys/issues.ts';
import type { Table } from '../table/table.ts';
import type { Put } from '../table/write.ts';

export interface UserAgent {
  readonly userAgent: string;
  /** IPv4 or IPv6. */
  readonly address: string;
}

export class UserAgents {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** For the transaction that creates the issue. It goes with the issue. */
  write(issue: IssueAddress, { userAgent, address }: UserAgent): Put {
    return { put: { ...issueAgentKey(issue), userAgent, address } };
  }

  async get(issue: IssueAddress): Promise<UserAgent | undefined> {
    const row = await this.#table.get(issueAgentKey(issue));
    return row && { userAgent: row['userAgent'] as string, address: row['address'] as string };
  }
}
