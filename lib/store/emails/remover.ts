import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Emails } from './emails.ts';

export const remover: Remover<{ readonly emails: Emails }> = {
  ofUser: {
    rows: ['owned-by-user', 'owned-count', 'email'],
    run: ({ emails }, { userId }, deadline) => untilNoneLeft(() => emails.removeOfUser(userId), deadline),
  },
};
