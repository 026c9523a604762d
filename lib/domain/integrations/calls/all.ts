import type { IntegrationSlug } from '../catalog.ts';
import { builders } from './builders.ts';
import type { CallsOf } from './call.ts';
import { chats } from './chats.ts';
import { trackers } from './trackers.ts';

/** How services are called, by the slug of the integration. Those that are not here call nobody. */
export const CALLS: Readonly<Partial<Record<IntegrationSlug, CallsOf>>> = {
  ...chats,
  ...trackers,
  ...builders,
};
