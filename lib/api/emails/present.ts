import type { EmailRecord } from '../../records/emails.ts';

export const email = ({ id, email, confirmedAt }: EmailRecord) => ({ id, email, confirmed_at: confirmedAt });
