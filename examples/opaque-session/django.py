# urls.py: path("analytics-session", analytics_session)
import base64, hmac, os, time
from django.http import HttpResponse, JsonResponse


def asked_by_gateway(headers):
    name, sent_at, given = (headers.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature"))
    key = base64.b64decode(os.environ["ANALYTICS_SESSION_SECRET"].removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, f"{name}.{sent_at}.{{}}".encode(), "sha256")).decode()
    return sent_at.isdecimal() and abs(time.time() - int(sent_at)) < 300 and hmac.compare_digest(given, expected)


def analytics_session(request):  # the gateway asks this with the cookie of the user: 200 with claims, or 401
    if not asked_by_gateway(request.headers):
        return HttpResponse(status=403)
    user = request.user
    if not user.is_authenticated:
        return HttpResponse(status=401)
    roles, login = list(user.groups.values_list("name", flat=True)), int(user.last_login.timestamp())
    return JsonResponse({"sub": str(user.pk), "org_id": str(user.company_id), "roles": roles, "auth_time": login})
