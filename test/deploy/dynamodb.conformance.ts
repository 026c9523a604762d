import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableConformance } from '../store/table/table-conformance.ts';

/** The table's suite, unchanged, on the DynamoDB at `CONFORMANCE_ENDPOINT`; credentials come from the environment. */
const endpoint = process.env['CONFORMANCE_ENDPOINT'];
if (endpoint === undefined) throw new Error('CONFORMANCE_ENDPOINT names no DynamoDB');

tableConformance(endpoint, async () => {
  const client = new DynamoDBClient({ endpoint, maxAttempts: 1 });
  return { client, close: async () => client.destroy() };
});
