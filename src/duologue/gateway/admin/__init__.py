"""Operations: status, metrics, their last hour, and the admin API."""
