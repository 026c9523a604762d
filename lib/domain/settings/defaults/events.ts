/** Settings of events. A name or its comment gives the unit. */
export const events = {
  push_event_activities_limit: 3,
};
