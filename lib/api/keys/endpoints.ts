import { gpgKeyEndpoints } from './gpg.ts';
import { sshKeyEndpoints } from './ssh.ts';

export const keyEndpoints = [...sshKeyEndpoints, ...gpgKeyEndpoints];
