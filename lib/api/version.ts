/** The release of this service. */
export const VERSION = '0.1.0';

/** The release of the REST interface it speaks: clients turn features on and off by it. */
export const API_RELEASE = '14.4.0';
