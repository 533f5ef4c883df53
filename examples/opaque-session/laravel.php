<?php // routes/web.php
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

// The gateway asks this with the cookie of the user: 200 with claims, or 401.
Route::get('/analytics-session', function (Request $request) {
    [$id, $time] = [$request->header('webhook-id', ''), $request->header('webhook-timestamp', '')];
    $key = base64_decode(substr(env('ANALYTICS_SESSION_SECRET'), strlen('whsec_')));
    $expected = 'v1,'.base64_encode(hash_hmac('sha256', "$id.$time.{}", $key, true));
    if (abs(time() - (int) $time) > 300 || ! hash_equals($expected, $request->header('webhook-signature', ''))) {
        return response('', 403);
    }
    $user = $request->user();
    if ($user === null) {
        return response('', 401);
    }
    $login = $request->session()->get('logged_in_at');
    return ['sub' => (string) $user->id, 'org_id' => (string) $user->company_id, 'roles' => $user->roles, 'auth_time' => $login];
});
