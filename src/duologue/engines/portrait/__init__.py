"""The video engine that draws faces and moves pictures on any machine, with no graphics card."""
