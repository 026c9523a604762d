import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { NOTIFICATION_EVENTS, NOTIFICATION_LEVELS } from '../../records/notifications.ts';

const fields = () => ({
  level: z.enum(NOTIFICATION_LEVELS),
  events: z
    .object(Object.fromEntries(NOTIFICATION_EVENTS.map((event) => [event, z.boolean()])))
    .optional()
    .describe('At the level `custom`: what mail is sent of'),
});

export const ofSource = shape(() => z.object(fields()).meta({ id: 'NotificationSetting' }));

export const global = shape(() =>
  z
    .object({ ...fields(), notification_email: z.string().describe('Where mail goes') })
    .meta({ id: 'NotificationSettingGlobal' }),
);
