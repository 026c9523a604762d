/** Settings of hooks. A name or its comment gives the unit. */
export const hooks = {
  push_event_hooks_limit: 3,
  allow_local_requests_from_system_hooks: true,
};
