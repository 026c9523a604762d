import * as z from 'zod';
import { shape } from '../http/shape.ts';

export const userAgentDetail = shape(() =>
  z
    .object({
      user_agent: z.string(),
      ip_address: z.string(),
      akismet_submitted: z.boolean().describe('Always false: spam is not checked for'),
      spamcheck_submitted: z.boolean().describe('Always false: spam is not checked for'),
    })
    .meta({ id: 'UserAgentDetail' }),
);

export const shownUserAgent = ({
  userAgent,
  address,
}: {
  readonly userAgent: string;
  readonly address: string;
}) => ({ user_agent: userAgent, ip_address: address, ...NOT_SUBMITTED });

const NOT_SUBMITTED = { akismet_submitted: false, spamcheck_submitted: false };
