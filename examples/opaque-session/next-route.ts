// app/analytics-session/route.ts, with Auth.js; npm install standardwebhooks
import { Webhook } from 'standardwebhooks';
import { auth } from '@/auth';

// The gateway asks this with the cookie of the user: 200 with claims, or 401.
export const GET = async (request: Request): Promise<Response> => {
  try {
    const { ANALYTICS_SESSION_SECRET = '' } = process.env;
    new Webhook(ANALYTICS_SESSION_SECRET).verify('{}', Object.fromEntries(request.headers));
  } catch {
    return new Response(null, { status: 403 }); // not asked by the gateway
  }
  const user = (await auth())?.user;
  if (user?.id === undefined) return new Response(null, { status: 401 });
  return Response.json({ sub: user.id, org_id: user.company, roles: user.roles });
};
