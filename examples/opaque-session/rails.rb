# config/routes.rb: get "/analytics-session", to: "analytics_sessions#show"
class AnalyticsSessionsController < ActionController::Base
  # The gateway asks this with the cookie of the user: 200 with claims, or 401.
  def show
    return head :forbidden unless asked_by_gateway?
    user = User.find_by(id: session[:user_id])
    return head :unauthorized if user.nil?
    render json: { sub: user.id.to_s, org_id: user.company_id.to_s, roles: user.roles, auth_time: session[:logged_in_at] }
  end

  private

  def asked_by_gateway?
    id, time, given = request.headers.values_at("webhook-id", "webhook-timestamp", "webhook-signature").map(&:to_s)
    key = Base64.decode64(ENV.fetch("ANALYTICS_SESSION_SECRET").delete_prefix("whsec_"))
    expected = "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{time}.{}"))}"
    (Time.now.to_i - time.to_i).abs < 300 && ActiveSupport::SecurityUtils.secure_compare(given, expected)
  end
end
