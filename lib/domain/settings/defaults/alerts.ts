/** Settings of alerts. A name or its comment gives the unit. */
export const alerts = {
  throttle_incident_management_notification_enabled: false,
  throttle_incident_management_notification_per_period: 3600,
  throttle_incident_management_notification_period_in_seconds: 3600,
};
