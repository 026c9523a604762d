/** Version of this service. */
export const VERSION = '0.1.0';

/** Version of the REST API that it implements; clients choose their features by it. */
export const API_RELEASE = '14.4.0';
