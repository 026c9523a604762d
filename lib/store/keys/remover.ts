import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { GpgKeys } from './gpg-keys.ts';
import type { SshKeys } from './ssh-keys.ts';

interface Stores {
  readonly sshKeys: SshKeys;
  readonly gpgKeys: GpgKeys;
}

export const remover: Remover<Stores> = {
  ofUser: {
    rows: ['owned-by-user', 'owned-count', 'ssh-key-claim', 'gpg-key-claim'],
    run: async ({ sshKeys, gpgKeys }, { userId }, deadline) =>
      (await untilNoneLeft(() => sshKeys.removeOfUser(userId), deadline)) &&
      untilNoneLeft(() => gpgKeys.removeOfUser(userId), deadline),
  },
};
