import { personalTokenEndpoints } from './personal.ts';

export const tokenEndpoints = [...personalTokenEndpoints];
