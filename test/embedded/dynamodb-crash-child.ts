import { writeSync } from 'node:fs';
import {
  BatchWriteItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { item, openMain } from './dynamodb-fixture.ts';

/**
 * The process that the crash test kills. Arguments: the data directory, and the first version of each group. The writers run
 * concurrently, each on its own group, and print every acknowledged write on stdout, unbuffered: a line
 * `<kind> <group> <version>`.
 */

/** The `version`th change of a group: three items and their index rows move to that version together. */
export function groupTransaction(group: string, version: number): TransactWriteItemsCommandInput {
  return {
    ClientRequestToken: `${group}-${version}`,
    TransactItems: ['a', 'b', 'c'].map((sk) => ({
      Update: {
        TableName: 'main',
        Key: item({ pk: group, sk }),
        UpdateExpression: 'SET h1 = :group, r1 = :row, version = :version ADD changes :one',
        ExpressionAttributeValues: item({
          ':group': group,
          ':row': `v${version}`,
          ':version': version,
          ':one': 1,
        }),
      },
    })),
  };
}

async function main(path: string, starts: number[]): Promise<void> {
  const { client } = await openMain(path);
  const print = (kind: string, group: string, version: number) =>
    writeSync(1, `${kind} ${group} ${version}\n`);
  await Promise.all(
    starts.map(async (start, writer) => {
      for (let version = start; ; version++) {
        const group = `group-${writer}`;
        await client.send(new TransactWriteItemsCommand(groupTransaction(group, version)));
        print('transaction', group, version);
        const single = item({
          pk: `single-${writer}`,
          sk: 's',
          h1: `single-${writer}`,
          r1: `v${version}`,
          version,
        });
        await client.send(new PutItemCommand({ TableName: 'main', Item: single }));
        print('put', `single-${writer}`, version);
        const batch = ['x', 'y'].map((sk) => ({
          PutRequest: {
            Item: item({ pk: `batch-${writer}`, sk, h1: `batch-${writer}`, r1: `v${version}`, version }),
          },
        }));
        await client.send(new BatchWriteItemCommand({ RequestItems: { main: batch } }));
        print('batch', `batch-${writer}`, version);
      }
    }),
  );
}

if (process.argv[1] === import.meta.filename) {
  const [, , path, ...starts] = process.argv;
  await main(path!, starts.map(Number));
}
