import { WriteFailed } from '@lemnos/embedded-aws/dynamodb';
import { startHost } from '../../local/host.ts';

/** A host whose write fails, and whose table another process has opened when it opens it again. */
const host = await startHost({ dataDir: process.env['DATA_DIR']!, port: 0, host: '127.0.0.1' });
host.dynamo.reopen = async () => {
  throw new Error('The database is in use by another process', { cause: { code: 'LEVEL_LOCKED' } });
};
host.dynamo.onError!(new WriteFailed('The database could not write'));
