import * as z from 'zod';
import { shape } from '../http/shape.ts';

export const userAgentDetail = shape(() =>
  z
    .object({
      user_agent: z.string(),
      ip_address: z.string(),
      spamcheck_submitted: z.boolean().describe('Always false: spam is not checked for'),
      akismet_submitted: z.boolean().describe('Same as `spamcheck_submitted`'),
    })
    .meta({ id: 'UserAgentDetail' }),
);

export const shownUserAgent = ({
  userAgent,
  address,
}: {
  readonly userAgent: string;
  readonly address: string;
}) => ({
  user_agent: userAgent,
  ip_address: address,
  spamcheck_submitted: false,
  akismet_submitted: false,
});
