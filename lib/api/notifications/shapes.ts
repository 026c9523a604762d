import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { NOTIFICATION_EVENTS, NOTIFICATION_LEVELS } from '../../records/notifications.ts';

const fields = () => ({
  level: z.enum(NOTIFICATION_LEVELS),
  events: z
    .object(Object.fromEntries(NOTIFICATION_EVENTS.map((event) => [event, z.boolean()])))
    .optional()
    .describe('Events for which mail is sent; present at the level `custom` only'),
});

export const ofSource = shape(() => z.object(fields()).meta({ id: 'NotificationSetting' }));

export const global = shape(() =>
  z
    .object({
      ...fields(),
      notification_email: z.string().describe('Email address that notifications are sent to'),
    })
    .meta({ id: 'NotificationSettingGlobal' }),
);
