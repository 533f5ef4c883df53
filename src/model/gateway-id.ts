/** The id of a gateway's deployment: one for all of its replicas, and another one for each other gateway of a service. */

export const gatewayIdMend = 'must be 1 to 64 letters, digits and . _ -';

export const isGatewayId = (text: string): boolean => /^[\w.-]{1,64}$/.test(text);
