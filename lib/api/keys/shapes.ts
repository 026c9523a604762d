import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { SSH_KEY_USAGES } from '../../records/keys.ts';
import { time, userSelf } from '../users/shapes.ts';

export const sshKey = shape(() =>
  z
    .object({
      id: z.int(),
      title: z.string(),
      created_at: time(),
      expires_at: time().nullable(),
      key: z.string().describe('Type and Base64 of the key, followed by the name of its user and the host'),
      usage_type: z.enum(SSH_KEY_USAGES),
    })
    .meta({ id: 'SshKey' }),
);
export const sshKeys = shape(() => z.array(sshKey()));
export const sshKeyWithUser = shape(() =>
  z.object({ ...sshKey().shape, user: userSelf() }).meta({ id: 'SshKeyWithUser' }),
);

export const gpgKey = shape(() =>
  z
    .object({ id: z.int(), key: z.string().describe('ASCII-armored public key'), created_at: time() })
    .meta({ id: 'GpgKey' }),
);
export const gpgKeys = shape(() => z.array(gpgKey()));
