import { sourceOf } from '../../domain/members/list.ts';
import { eventsOf } from '../../domain/notifications/levels.ts';
import {
  changeSetting,
  globalSetting,
  type NotificationInput,
  sourceSetting,
} from '../../domain/notifications/settings.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import {
  NOTIFICATION_EVENTS,
  NOTIFICATION_LEVELS,
  type NotificationChoice,
  type NotificationEvent,
  type NotificationLevel,
} from '../../records/notifications.ts';
import { accessOf } from '../container-access.ts';
import { endpoint } from '../endpoint.ts';
import { MEMBERSHIP_RESOURCES, type MembershipResourceKind } from '../members/resources.ts';
import * as shapes from './shapes.ts';

const area = 'todos';
const unknownLevel = { status: 400, description: 'Unknown level' };

const level = () => p.string({ documentedValues: NOTIFICATION_LEVELS, description: 'Notification level' });
const events = () =>
  Object.fromEntries(
    NOTIFICATION_EVENTS.map((event) => [
      event,
      p.boolean({ description: `Whether to send mail for the event \`${event}\` at the level \`custom\`` }),
    ]),
  );

/** The events that the request sets; the others keep their value. */
const eventsIn = (body: Readonly<Record<string, unknown>>): NotificationInput['events'] =>
  Object.fromEntries(
    NOTIFICATION_EVENTS.flatMap((event: NotificationEvent) =>
      typeof body[event] === 'boolean' ? [[event, body[event]]] : [],
    ),
  );

const shown = (choice: NotificationChoice & { readonly level: NotificationLevel }) => ({
  level: choice.level,
  ...(choice.level === 'custom' ? { events: eventsOf(choice) } : {}),
});

const get = endpoint({
  method: 'GET',
  path: '/notification_settings',
  area,
  summary: 'Get your global notification settings',
  access: signedIn(),
  returns: { body: shapes.global },
  handle: async ({ actor }, deps) => {
    const setting = await globalSetting(deps, actor.user);
    return { ...shown(setting), notification_email: setting.email };
  },
});

const change = endpoint({
  method: 'PUT',
  path: '/notification_settings',
  area,
  summary: 'Update your global notification settings',
  access: signedIn(),
  body: () =>
    p.params({
      level: level(),
      notification_email: p.string({
        nullable: true,
        description: 'Confirmed email address to send notifications to; empty for the primary address',
      }),
      ...events(),
    }),
  returns: { body: shapes.global },
  errors: [unknownLevel],
  handle: async ({ actor, body }, deps) => {
    const { level, notification_email: email } = body;
    await changeSetting(deps, actor.user, undefined, { level, email, events: eventsIn(body) });
    const setting = await globalSetting(deps, actor.user);
    return { ...shown(setting), notification_email: setting.email };
  },
});

const of = (kind: MembershipResourceKind) => {
  const { base, readers } = MEMBERSHIP_RESOURCES[kind];
  return [
    endpoint({
      method: 'GET',
      path: `${base}/notification_settings`,
      area,
      summary: `Get your notification settings for a ${kind}`,
      access: readers,
      returns: { body: shapes.ofSource },
      handle: async ({ actor, ...found }, deps) =>
        shown(await sourceSetting(deps, actor.user, sourceOf(accessOf(found)))),
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/notification_settings`,
      area,
      summary: `Update your notification settings for a ${kind}`,
      access: readers,
      body: () => p.params({ level: level(), ...events() }),
      returns: { body: shapes.ofSource },
      errors: [unknownLevel],
      handle: async ({ actor, body, ...found }, deps) => {
        const source = sourceOf(accessOf(found));
        await changeSetting(deps, actor.user, source, { level: body.level, events: eventsIn(body) });
        return shown(await sourceSetting(deps, actor.user, source));
      },
    }),
  ];
};

export const notificationSettingEndpoints = [get, change, ...of('project'), ...of('group')];
